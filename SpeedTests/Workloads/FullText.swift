import StoredObjectsCore
import WorkloadData

/// The rivals with full-text search; SQLite has FTS5.
private let textRivals: Set<String> = ["sqlite-c", "grdb", "grdb-optimised"]

/// Builds the full-text index of existing songs.
struct FullTextBuild: Workload {
  let name = "FullTextBuild"
  let summary = "make a full-text index of the titles of songs that are there, for parts of words"
  let defaultCounts = [1_000_000]
  let rivals: Set<String>? = textRivals

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertUnsearchedSongs(workspace, count)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [SearchedSong.self]) { try buildIndex($0, count) }
  }
}

/// Searches a million titles for text that is in 30,000 of them and for text that is in 20.
///
/// The count is the number of titles.
struct FullTextSearch: Workload {
  /// The kind of the search text, and of the result.
  enum Kind: Int {
    /// Parts of words; all songs that contain them.
    case all
    /// Parts of words; the best songs.
    case best
    /// Words and prefixes of words; the best songs.
    case words
  }

  static let searches = 240
  static let limit = 20

  let name: String
  let summary: String
  let kind: Kind
  let defaultCounts = [1_000_000]
  let rivals: Set<String>? = textRivals

  func operations(_ count: Int) -> Int { Self.searches }

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertUnsearchedSongs(workspace, count)
    try workspace.withStore(of: [SearchedSong.self]) { try buildIndex($0, count) }
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [SearchedSong.self]) { store in
      for index in 0..<Self.searches {
        let found = try store.search(
          SearchedSong.self, query(index), limit: kind == .all ? .max : Self.limit)
        // Rare words are in few titles, and possibly in none of a small library.
        try expect(!found.isEmpty || index % 12 > 2, "nothing has \(Titles.wanted(index))")
      }
    }
  }

  private func query(_ index: Int) -> TextQuery {
    let word = Titles.wanted(index)
    if kind != .words { return .substring(String(word.dropFirst())) }
    return index % 2 == 0 ? .word(word) : .prefix(String(word.dropLast()))
  }
}

let fullTextSearches = [
  FullTextSearch(
    name: "FullTextSearch",
    summary: "search titles for parts of words, and fetch all that have them", kind: .all),
  FullTextSearch(
    name: "FullTextBest",
    summary: "search titles for parts of words, and fetch the best 20", kind: .best),
  FullTextSearch(
    name: "FullTextWords",
    summary: "search titles for words and beginnings of words, and fetch the best 20",
    kind: .words),
]

private func insertUnsearchedSongs(_ workspace: Workspace, _ count: Int) throws {
  try workspace.withStore(of: [UnsearchedSong.self]) { store in
    for index in 0..<count {
      let song = UnsearchedSong()
      song.title = Titles.title(index)
      song.seconds = UInt32(index % 600)
      store.insert(song)
    }
    try store.saveChanges()
  }
}

func buildIndex(_ store: Store, _ count: Int) throws {
  var done = 0
  try store.buildFullTextIndexes { done = $0.completed }
  try expect(done >= count, "\(done) songs are in the index")
}
