import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
  private let root = Repository.root

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

  /// The pages for people who read the repository, and not the documentation.
  private static let pages = [
    "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SpeedTests/README.md",
    "Examples/Jukebox/README.md", "Examples/Notebook/README.md",
    "Examples/Sketch/README.md",
  ]

  @Test("Every file that a page links to is there", arguments: pages)
  func links(page: String) throws {
    let links = try text(page).matches(of: /\]\(([A-Za-z.][^)#:]*)[^)]*\)/)
      .map { String($0.output.1) }
    #expect(links.count > (page == "README.md" ? 5 : 0))
    let folder = root.appendingPathComponent(page).deletingLastPathComponent()
    for link in links where !link.hasPrefix("http") {
      let path = folder.appendingPathComponent(link).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: path), "\(link)")
    }
  }

  @Test("The speed tests have a place for their tables")
  func speedTables() throws {
    let writer = try text("SpeedTests/Harness/Readme.swift")
    let marks = writer.matches(of: /"(<!-- .* -->)"/).map { String($0.output.1) }
    #expect(marks.count == 2)
    let path = try #require(writer.firstMatch(of: /let path = "(.*)"/)).output.1
    let page = try text(String(path))
    let positions = marks.compactMap { page.range(of: $0)?.lowerBound }
    #expect(positions.count == 2)
    #expect(positions == positions.sorted())
  }
}
