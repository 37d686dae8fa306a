import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Followers with values outside of records")
struct FollowedValueTests {
  @Test(
    "Values arrive before the commits that refer to them, and are removed with the last reference",
    arguments: TestedBackend.usual)
  func values(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "values that follow, \(kind)")
    try kind.withLocation { location in
      let source = try MemoryBackend()
      let store = try Store.ofRecordings(source)
      store.insertRecording("0", noise(200_000, seed: 0))
      try store.saveChanges()
      try source.beginHistory()
      var target = try location.open()
      var follower = try StoreFollower(target)
      for number in 1..<25 {
        let size = [0, 1, 70_000, 200_000].randomElement(using: &generator) ?? 0
        store.insertRecording("\(number)", noise(size, seed: UInt64(number)))
        if number % 3 == 0, let first = try store.allObjects(of: Recording.self).first {
          // Some values are replaced or removed before the copy receives them.
          if number % 2 == 0 { store.delete(first) } else { first.audio = ExternalData([1]) }
        }
        try store.saveChanges()
        if number % 2 == 0 { try follower.catchUp(with: source) }
        if number == 12 {
          try target.close()
          target = try location.open()
          follower = try StoreFollower(target)
        }
      }
      try follower.catchUp(with: source)
      #expect(try RememberedStore.image(of: target) == RememberedStore.image(of: source))
      #expect(try contents(target) == contents(source))
      let sizes = try [target, source].map { try #require($0.externalStorage).list().count }
      #expect(sizes[0] == sizes[1])
      try target.close()
    }
  }

  private func contents(_ backend: any StoreBackend) throws -> [String: [UInt8]] {
    let store = try Store.ofRecordings(backend)
    let recordings = try store.allObjects(of: Recording.self)
    return try Dictionary(
      uniqueKeysWithValues: recordings.map { ($0.title, try $0.audio.bytes()) })
  }

  @Test("A first copy and a continuous backup have the values of the store")
  func copies() throws {
    try withTemporaryDirectory { folder in
      let source = try TestedBackend.cdb.open(folder + "/source")
      let store = try Store.ofRecordings(source)
      store.insertRecording("a", noise(150_000, seed: 1))
      try store.saveChanges()
      try source.beginHistory()
      var bytes: [UInt8] = []
      var writer = try HistoryStreamWriter.copying(source) { bytes += $0 }
      var backup = try ContinuousBackup(directory: folder + "/backup")
      _ = try backup.update(from: source)
      store.insertRecording("b", noise(90_000, seed: 2))
      try store.saveChanges()
      try writer.write(source) { bytes += $0 }
      bytes += writer.end()
      _ = try backup.update(from: source)
      let wanted = try contents(source)
      let target = try TestedBackend.tokyoCabinet.open(folder + "/copy")
      var follower = try StoreFollower(target)
      for start in stride(from: 0, to: bytes.count, by: 10_000) {
        try follower.apply(Array(bytes[start..<min(bytes.count, start + 10_000)]))
      }
      try follower.finish()
      #expect(try contents(target) == wanted && wanted.count == 2)
      try ContinuousBackup.restore(from: folder + "/backup", to: folder + "/restored") {
        (path) throws(StoreError) in
        try CDBValues.open(path)
      }
      let restored = try TestedBackend.cdb.open(folder + "/restored")
      #expect(try contents(restored) == wanted)
      for backend in [source, target, restored] { try backend.close() }
    }
  }
}

/// Opens the bases of a backup.
private enum CDBValues {
  static func open(_ path: String) throws(StoreError) -> any DirectoryBackend {
    do { return try TestedBackend.cdb.open(path, readOnly: true) } catch {
      throw error as? StoreError ?? StoreError(.ioError, "\(error)")
    }
  }
}
