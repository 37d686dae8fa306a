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

  @Test(
    "A replaced value and that of a deleted object stay until the history lets them go",
    arguments: TestedBackend.allCases)
  func kept(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { directory in
      let backend = try kind.open(directory + "/store")
      guard let storage = backend.externalStorage, backend.remembersCommits else { return }
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
      let end = backend.lastCommitNumber
      #expect(try storage.list().count == 3)
      #expect(try recordings(store) == ["a": Self.value(3)])

      let earlier = try backend.snapshot(asOf: start)
      #expect(
        try recordings(Store.ofRecordings(earlier)) == ["a": Self.value(1), "b": Self.value(2)])
      try earlier.close()
      try backend.revert(toCommit: start)
      let reverted = try Store.ofRecordings(backend)
      #expect(try recordings(reverted) == ["a": Self.value(1), "b": Self.value(2)])
      #expect(try reverted.check().findings.isEmpty)
      try backend.revert(toCommit: end)
      #expect(try recordings(Store.ofRecordings(backend)) == ["a": Self.value(3)])
      #expect(try storage.list().count == 3)

      try backend.purgeHistory(through: start + 1)
      #expect(try storage.list().count == 3)
      try backend.endHistory()
      #expect(try storage.list().count == 1)
      #expect(try Store.ofRecordings(backend).check().findings.isEmpty)
      try backend.close()
    }
  }
}
