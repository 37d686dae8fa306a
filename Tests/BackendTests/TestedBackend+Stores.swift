import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

extension TestedBackend {
  /// Everything in a directory, which is sound.
  func image(_ directory: String) throws -> StoreImage {
    let kinds: Set<StoreFinding.Kind> = [
      .fileDamaged, .foreignFile, .log, .directoryMoved, .countMismatch, .notAuthentic,
    ]
    #expect(try check(directory).findings.filter { kinds.contains($0.kind) } == [])
    let backend = try open(directory)
    defer { try? backend.close() }
    return try StoreImage(of: backend)
  }

  /// Writes a store with two tables, a buffer and an ordered table.
  func makeStore(_ directory: String) throws -> StoreImage {
    let backend = try open(directory)
    try write(1, to: backend)
    try backend.checkpoint()
    let image = try StoreImage(of: backend)
    try backend.close()
    return image
  }

  /// Writes to all kinds of files what tells the number of the save.
  func write(_ number: UInt8, to backend: any DirectoryBackend) throws {
    let songs = try backend.table(named: "Song")
    let others = try backend.table(named: "Class\(number)")
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    try backend.commit { changes in
      changes.update(2, in: songs, [number])
      changes.update(UInt32(number) + 10, in: songs, [number, number])
      changes.insert(2, in: others, [number])
      changes.set("Favorite", [number])
      changes.set([number], to: [number], in: words)
    }
  }
}

/// The names in a directory, and what is in these files.
func filesBelow(_ directory: String) throws -> [String: Data] {
  var files: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
    files[name] = try Data(contentsOf: URL(filePath: directory + "/" + name))
  }
  return files
}
