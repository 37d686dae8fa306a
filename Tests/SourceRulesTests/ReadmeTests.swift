import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
  private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("Its first example is the QuickStart program, which is built")
  func example() throws {
    // All of it is inside of `#if Macros`, indented.
    let lines = try text("Examples/QuickStart/main.swift").split(
      separator: "\n", omittingEmptySubsequences: false)
    let program = lines.dropFirst().dropLast(2).map { $0.dropFirst(2) }.joined(separator: "\n")
    #expect(program.contains("saveChanges"))
    #expect(try text("README.md").contains("```swift\n\(program)\n```"))
  }

  @Test("Every file that it links to is there")
  func links() throws {
    let readme = try text("README.md")
    let links = readme.matches(of: /\]\(([A-Za-z][^)#:]*)\)/).map { String($0.output.1) }
    #expect(links.count > 5)
    for link in links {
      let path = root.appendingPathComponent(link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(link)")
    }
  }
}
