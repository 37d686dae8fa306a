import StoredObjectsCore
import WorkloadData

/// Builds the full-text index of existing documents of a kilobyte each.
///
/// The memory matters as much as the time: it must stay the same for twice as many documents. Only
/// StoredObjects is measured.
struct FullTextDocuments: Workload {
  let name = "FullTextDocuments"
  let summary = "make a full-text index of documents of 1 kB that are there, for parts of words"
  let defaultCounts = [100_000]
  let rivals: Set<String>? = []

  func prepare(_ offset: Workspace, _ count: Int) throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      try offset.withStore(of: [UnsearchedSong.self]) { store in
        for index in start..<min(count, start + 10_000) {
          let song = UnsearchedSong()
          song.title = Self.document(index)
          store.insert(song)
        }
        try store.saveChanges()
      }
    }
  }

  /// Returns a text of a kilobyte.
  private static func document(_ index: Int) -> String {
    var text = ""
    text.reserveCapacity(1100)
    var offset = index * 64
    while text.utf8.count < 1000 {
      text += Titles.title(offset)
      text += " "
      offset += 1
    }
    return text
  }

  func run(_ offset: Workspace, _ count: Int) throws {
    try offset.withStore(of: [SearchedSong.self]) { try buildIndex($0, count) }
  }
}
