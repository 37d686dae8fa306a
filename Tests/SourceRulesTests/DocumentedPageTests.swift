import Foundation
import Testing

@Suite("The code of pages that is compiled as a whole")
struct DocumentedPageTests {
  private static let root = Repository.root

  /// Pages, and where their code is compiled and tested.
  ///
  /// Code of other products follows "``` swift", with a space, and is not compared.
  private static let pages = [
    ("TestingWithStoresInMemory", "Tests/StoredObjectsCoreTests/Container"),
    ("BuildingAServer", "Examples/JukeboxServer"),
    ("Cookbook", "Tests/PlainClient"),
    ("ComingFromSwiftData", "Tests/PlainClient"),
    ("ComingFromCoreData", "Tests/PlainClient"),
    ("ComingFromRealm", "Tests/PlainClient"),
    ("ComingFromGRDB", "Tests/PlainClient"),
  ]

  /// A piece of code, as lines without indentation.
  struct Example: Sendable, CustomTestStringConvertible {
    let page: String
    let folder: String
    let lines: [String]
    var testDescription: String { "\(page): \(lines.first ?? "")" }
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private static func examples(_ page: String, _ folder: String) throws -> [Example] {
    let file = root.appending(path: "Sources/StoredObjectsCore/StoredObjectsCore.docc/\(page).md")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.matches(of: /(?s)```swift\n(.*?)\n```/).map { match in
      Example(page: page, folder: folder, lines: lines(String(match.output.1)))
    }
  }

  private static let all = pages.flatMap { page, folder in
    (try? examples(page, folder)) ?? []
  }

  @Test("Each page has code")
  func some() {
    for (page, _) in Self.pages { #expect(Self.all.filter { $0.page == page }.count > 3) }
  }

  @Test("Each piece of code is in a compiled source", arguments: all)
  func compiled(example: Example) throws {
    let files = FileManager.default.enumerator(
      at: Self.root.appending(path: example.folder), includingPropertiesForKeys: nil,
      options: .skipsHiddenFiles)
    let sources = (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    let isThere = try sources.contains { file in
      Self.lines(try String(contentsOf: file, encoding: .utf8)).contains(example.lines)
    }
    #expect(isThere, "\(example.folder) does not have it")
  }
}
