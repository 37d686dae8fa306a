import Foundation
import Testing

@Suite("The code of pages that is compiled as a whole")
struct DocumentedPageTests {
  private static let root = Repository.root

  /// Pages, and where their code is compiled and tested.
  ///
  /// Code of other products follows "``` swift", with a space, and is not compared.
  private static let pages =
    [
      ("TestingWithStoresInMemory", "Tests/StoredObjectsCoreTests/Container"),
      ("BuildingAServer", "Examples/JukeboxServer"),
    ]
    + [
      "BuildingADesktopApp", "Cookbook", "ComingFromCoreData", "ComingFromGRDB", "ComingFromRealm",
      "ComingFromSwiftData", "ExportingAndImportingJSON", "FindingObjects", "FullTextSearch",
      "GettingStarted", "KeepingAHistory", "LiveQueries", "ObservingAStore", "SharingAStore",
      "StoringLargeValues", "UndoAndRedo", "WorkingInTheBackground", "CheckingAndRepairing",
      "ErrorsAndWhatToDo", "FaultsAndFailures", "Relationships", "SubclassesAndObjectIDs",
    ].map { ($0, "Tests/PlainClient") }

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
    return text.matches(of: /(?s)```swift\n(?:import \w+\n)*\n?(.*?)\n```/).map { match in
      Example(page: page, folder: folder, lines: lines(String(match.output.1)))
    }
  }

  private static let all = pages.flatMap { page, folder in
    (try? examples(page, folder)) ?? []
  }

  @Test("Each page has code")
  func some() {
    for (page, _) in Self.pages { #expect(Self.all.contains { $0.page == page }, "\(page)") }
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
