import Foundation
import Testing

@Suite("Warnings as errors")
struct WarningRulesTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  /// A warning of a newer compiler must not break a package that depends on the path of a clone.
  @Test("The manifest makes warnings errors only in own builds")
  func ownBuildsOnly() throws {
    let manifest = try text("Package.swift")
    let condition = try #require(manifest.firstRange(of: "let strict: [SwiftSetting] ="))
    let end = try #require(manifest[condition.upperBound...].firstRange(of: "\n\n"))
    let use = try #require(manifest.firstRange(of: ".treatAllWarnings("))
    #expect(use.lowerBound > condition.upperBound && use.upperBound < end.lowerBound)
    #expect(manifest.ranges(of: ".treatAllWarnings(").count == 1)
    #expect(!manifest.contains("treatWarning("))
    #expect(manifest[..<end.lowerBound].contains("Context.environment"))
  }

  @Test("The development script asks for it, for all of its commands")
  func script() throws {
    let script = try text("dev")
    let export = try #require(script.firstRange(of: "\nexport STOREDOBJECTS_STRICT=1\n"))
    let command = try #require(script.firstRange(of: "\nusage() {"))
    #expect(export.upperBound <= command.lowerBound)
    #expect(try text("Package.swift").contains("\"STOREDOBJECTS_STRICT\""))
  }
}
