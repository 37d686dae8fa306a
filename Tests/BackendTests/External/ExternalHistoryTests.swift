import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Values outside of records, in a store with a history")
struct ExternalHistoryTests {
  private static func value(_ number: Int) -> [UInt8] { noise(20_000, seed: UInt64(number)) }

  private func recordings(_ store: Store) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for recording in try store.allObjects(of: Recording.self) {
      found[recording.title] = try recording.audio.bytes()
    }
    return found
  }

  /// Saves two recordings, begins a history, and replaces one value and deletes the other.
  ///
  /// - Returns: The last commit before the history, which has both values.
  private func save(_ backend: any StoreBackend) throws -> UInt64 {
    let store = try Store.ofRecordings(backend)
    store.insertRecording("a", Self.value(1))
    store.insertRecording("b", Self.value(2))
    try store.saveChanges()
    try backend.beginHistory()
    let start = backend.lastCommitNumber
    try #require(try store.recording("a")).audio = ExternalData(Self.value(3))
    try store.saveChanges()
    try store.delete(#require(try store.recording("b")))
    try store.saveChanges()
    return start
  }

  @Test(
    "A replaced value, and that of a deleted object, stays until its entry is removed",
    arguments: TestedBackend.allCases.filter { $0 != .memory })
  func kept(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/store")
      let storage = try #require(backend.externalStorage)
      let start = try save(backend)
      let end = backend.lastCommitNumber
      // Objects that hold a value would keep it, too: each look has a store of its own.
      func found(_ backend: any StoreBackend) throws -> [String: [UInt8]] {
        try recordings(Store.ofRecordings(backend))
      }
      #expect(try found(backend) == ["a": Self.value(3)])
      #expect(try storage.list().count == 3)

      // A snapshot keeps values, too, for as long as it is held.
      func found(asOf number: UInt64) throws -> [String: [UInt8]] {
        try found(backend.snapshot(asOf: number))
      }
      #expect(try found(asOf: start) == ["a": Self.value(1), "b": Self.value(2)])
      try backend.revert(toCommit: start)
      #expect(try found(backend) == ["a": Self.value(1), "b": Self.value(2)])
      #expect(try Store.ofRecordings(backend).check().findings.isEmpty)
      try backend.revert(toCommit: end)
      #expect(try found(backend) == ["a": Self.value(3)])
      #expect(try storage.list().count == 3)

      try backend.purgeHistory(through: start + 1)
      #expect(try storage.list().count == 3)
      try backend.endHistory()
      #expect(try storage.list().count == 1)
      #expect(try Store.ofRecordings(backend).check().findings.isEmpty)
      #expect(try found(backend) == ["a": Self.value(3)])
      try backend.close()
    }
  }
}
