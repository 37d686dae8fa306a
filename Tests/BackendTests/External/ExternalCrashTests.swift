import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A power cut, or a failure, at every call of a session that writes values outside of records.
@Suite("Power cuts and failures, with values outside of records")
struct ExternalCrashTests {
  private static func value(_ number: Int) -> [UInt8] { noise(20_000, seed: UInt64(number)) }

  /// Saves five times: recording "n" has the value n, and every second save removes or replaces one.
  private final class Session {
    let kind: TestedBackend
    /// The recordings after each save, by title.
    static let states: [[String: Int]] = [
      [:], ["1": 1], ["1": 1, "2": 2], ["1": 10, "2": 2], ["1": 10],
      ["1": 10, "5": 5, "6": 6], ["5": 5, "6": 60],
    ]
    var acknowledged = 0

    init(_ kind: TestedBackend) { self.kind = kind }

    func run(_ disk: CrashingDirectory) throws {
      let backend = try kind.open(disk, limits: ScriptedSession.limits)
      let store = try Store.ofRecordings(backend)
      for number in 1..<Self.states.count {
        try Self.bring(store, to: Self.states[number])
        try store.saveChanges()
        acknowledged = number
        if number == 3 { try backend.checkpoint() }
      }
      try backend.close()
    }

    static func bring(_ store: Store, to state: [String: Int]) throws {
      for recording in try store.allObjects(of: Recording.self) {
        guard let number = state[recording.title] else {
          store.delete(recording)
          continue
        }
        let value = ExternalCrashTests.value(number)
        if try recording.audio.bytes() != value { recording.audio = ExternalData(value) }
      }
      for (title, number) in state where try store.recording(title) == nil {
        store.insertRecording(title, ExternalCrashTests.value(number))
      }
    }
  }

  /// The recordings that are there, whose values are whole, and whose files are all.
  private func state(
    _ kind: TestedBackend, _ directory: String, _ location: String
  ) throws -> [String: Int]? {
    let backend = try kind.open(directory)
    defer { try? backend.close() }
    let store = try Store.ofRecordings(backend)
    var state: [String: Int] = [:]
    for recording in try store.allObjects(of: Recording.self) {
      let bytes = try recording.audio.bytes()
      state[recording.title] = [1, 2, 10, 5, 6, 60].first { Self.value($0) == bytes }
    }
    let findings = try store.check().findings
    #expect(findings == [], "\(location)")
    #expect(try valueFiles(directory).count == state.count, "\(location)")
    return state
  }

  @Test(
    "At full, no commit lacks its values, and no values are left over",
    arguments: [TestedBackend.tokyoCabinet, .encryptedCDB])
  func powerCuts(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "power cuts with external values, \(kind)")
    let (operations, changes) = try operations(of: kind)
    #expect(changes.count > 50)
    for cut in changes {
      let disk = try CrashingDirectory()
      disk.plan(.cutPower(at: cut))
      let title = "\(kind), cut at \(cut), \(operations[cut])"
      let session = Session(kind)
      do { try session.run(disk) } catch {}
      try check(session, disk.afterPowerCut(using: &generator), title)
    }
    print("\(changes.count) cuts of \(kind)")
  }

  private func operations(of kind: TestedBackend) throws -> ([FileCall], changes: [Int]) {
    let disk = try CrashingDirectory()
    try Session(kind).run(disk)
    return (disk.operations, disk.changes)
  }

  /// Makes sure that the store is as it was after a save, and no save that has returned is lost.
  private func check(_ session: Session, _ disk: CrashingDirectory, _ title: String) {
    do {
      let found = try state(session.kind, disk.path, title)
      let last = Session.states.lastIndex { $0 == found }
      #expect(last.map { $0 >= session.acknowledged } == true, "\(title): \(found ?? [:])")
    } catch { Issue.record("\(title): \(error)") }
  }

  @Test(
    "After a failing call the store continues, or requires to be opened again",
    arguments: zip([TestedBackend.tokyoCabinet, .encryptedCDB], [ENOSPC, EIO]))
  func failures(_ kind: TestedBackend, _ number: Int32) throws {
    for failing in try operations(of: kind).0.indices {
      let disk = try CrashingDirectory()
      disk.plan(.fail(at: failing, errno: number))
      let title = "\(kind), call \(failing) fails with \(number)"
      let session = Session(kind)
      do {
        try session.run(disk)
      } catch {
        #expect(error is StoreError, "\(title): \(error)")
      }
      disk.plan(.none)
      check(session, disk, title)
    }
  }

  @Test("A full disk is an error with the code noSpace, and the next try succeeds")
  func full() throws {
    try withTemporaryDirectory { path in
      let isFull = SharedLock(true)
      let files = TestedFileSystem { call, file in
        isFull.withLock { $0 } && call == .write && file.hasSuffix(".external") ? ENOSPC : nil
      }
      let backend = try TestedBackend.cdb.open(path, in: files)
      defer { try? backend.close() }
      let store = try Store.ofRecordings(backend)
      store.insertRecording("1", Self.value(1))
      expectError(.noSpace) { try store.saveChanges() }
      #expect(try valueFiles(path) == [])
      isFull.withLock { $0 = false }
      try store.saveChanges()
      #expect(try store.recording("1")?.audio.bytes() == Self.value(1))
      #expect(try valueFiles(path).count == 1)
    }
  }

  @Test("A store without values makes no more calls than one whose class has none")
  func calls() throws {
    try withTemporaryDirectory { path in
      let calls = SharedLock<[String]>([])
      let files = TestedFileSystem { call, file in
        calls.withLock { $0.append("\(call) \(file)") }
        return nil
      }
      let backend = try TestedBackend.tokyoCabinet.open(path, in: files)
      defer { try? backend.close() }
      let store = Store(backend: backend)
      try store.register(PlainRecording.self)
      let recording = PlainRecording()
      store.insert(recording)
      try store.saveChanges()
      calls.withLock { $0 = [] }
      recording.title = "A"
      try store.saveChanges()
      #expect(calls.withLock { $0.filter { !$0.hasSuffix("Commit.log") } } == [])
    }
  }
}
