import Foundation
import Testing

@Suite("The page on errors")
struct DocumentedErrorTests {
  private static let root = Repository.root

  /// A type of errors, and the source of its codes.
  struct Codes: Sendable, CustomTestStringConvertible {
    let type: String
    let source: String
    var testDescription: String { type }
  }

  private static let all = [
    Codes(type: "StoreError", source: "Sources/StoreEngine/Errors/StoreError.swift"),
    Codes(type: "DataBufferError", source: "Sources/StoreEngine/Buffer/DataBufferError.swift"),
  ]

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// The part of a page below a heading, up to the next one of its level.
  private func section(_ heading: String, of page: String) -> Substring {
    guard let start = page.range(of: "\n## \(heading)\n") else { return "" }
    let rest = page[start.upperBound...]
    return rest.range(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
  }

  @Test("It has each code once, and no others", arguments: all)
  func complete(codes: Codes) throws {
    let declared = try text(codes.source)
      .matches(of: /public static let (\w+) = Code\(description: "(\w+)"\)/)
    #expect(declared.count > 10)
    for code in declared { #expect(code.output.1 == code.output.2) }

    let page = try text(
      "Sources/StoredObjectsCore/StoredObjectsCore.docc/ErrorsAndWhatToDo.md")
    let listed = section("Codes of \(codes.type)", of: page).split(separator: "\n")
      .compactMap { $0.prefixMatch(of: /\| `(\w+)` \|/).map { String($0.output.1) } }
    #expect(listed.sorted() == declared.map { String($0.output.1) }.sorted())
  }

  @Test("Each row has an event, a cause and a remedy")
  func rows() throws {
    let page = try text(
      "Sources/StoredObjectsCore/StoredObjectsCore.docc/ErrorsAndWhatToDo.md")
    for codes in Self.all {
      for row in section("Codes of \(codes.type)", of: page).split(separator: "\n")
      where row.hasPrefix("| `") {
        let cells = row.replacing("\\|", with: "").split(separator: "|")
          .map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(cells.count == 4, "\(row)")
        #expect(cells.allSatisfy { !$0.isEmpty }, "\(row)")
      }
    }
  }
}
