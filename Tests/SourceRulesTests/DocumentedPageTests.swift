import Foundation
import Testing

@Suite("The code of pages that is compiled as a whole")
struct DocumentedPageTests {
  private static let root = Repository.root

  /// The folders where more code of some pages is compiled and tested.
  ///
  /// All other code is in `Tests/PlainClient`, with the settings of users.
  ///
  /// Code of other products follows "``` swift", with a space, and is not compared.
  private static let folders = [
    "TestingWithStoresInMemory": "Tests/StoredObjectsCoreTests/Container",
    "BuildingAServer": "Examples/JukeboxServer",
    "FollowingAStore": "Examples/JukeboxServer/Tests",
    "MigratingAStore": "Tests/BackendTests",
    "StoredObjectsSync": "Examples/JukeboxServer/Tests",
    "WritingABackend": "Tests/BackendTests",
  ]

  /// A piece of code, as lines without indentation.
  struct Example: Sendable, CustomTestStringConvertible {
    let page: String
    let folders: [String]
    let lines: [String]
    var testDescription: String { "\(page): \(lines.first ?? "")" }
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private static func files(_ folder: String, _ suffix: String) -> [URL] {
    let files = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: nil,
      options: .skipsHiddenFiles)
    return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == suffix }
  }

  private static func examples(of file: URL) throws -> [Example] {
    let page = file.deletingPathExtension().lastPathComponent
    let folders = ["Tests/PlainClient"] + (folders[page].map { [$0] } ?? [])
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.matches(of: /(?s)```swift\n(?:import \w+\n)*\n?(.*?)\n?```/)
      .map { lines(String($0.output.1)) }.filter { $0 != [""] }
      .map { Example(page: page, folders: folders, lines: $0) }
  }

  private static let all = files("Sources", "md").flatMap { (try? examples(of: $0)) ?? [] }
    .sorted { ($0.page, $0.lines[0]) < ($1.page, $1.lines[0]) }

  private static let sources = Set(folders.values).union(["Tests/PlainClient"]).map { folder in
    (
      folder,
      files(folder, "swift").compactMap { try? lines(String(contentsOf: $0, encoding: .utf8)) }
    )
  }

  @Test("Pages of all modules have code")
  func some() {
    let pages = Set(Self.all.map(\.page))
    #expect(pages.count > 45)
    for page in ["CDB", "Commits", "Cookbook", "PostgreSQLBackend", "VersionsAndAutosave"] {
      #expect(pages.contains(page), "\(page)")
    }
    for page in Self.folders.keys { #expect(pages.contains(page), "\(page)") }
  }

  @Test("Each piece of code is in a compiled source", arguments: all)
  func compiled(example: Example) throws {
    let isThere = Self.sources.contains { folder, sources in
      example.folders.contains(folder) && sources.contains { $0.hasRun(of: example.lines) }
    }
    #expect(isThere, "\(example.folders) do not have it")
  }

  /// The compiler of Swift 6.3 crashes on such a clause of a typed error whose body uses `error`.
  @Test("No example has a clause that crashes the compiler")
  func crashes() throws {
    let files = FileManager.default.enumerator(
      at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
    let texts = (files?.allObjects as? [URL] ?? []).filter {
      ["md", "swift"].contains($0.pathExtension)
    }
    #expect(texts.count > 500)
    for file in texts {
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(!text.contains("catch where error."), "\(file.lastPathComponent)")
    }
  }
}
