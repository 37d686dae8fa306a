import CDBBackend
import Files
import Foundation
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Runs a closure in a child process that is forked and not executed; its result ends the child.
func inForkedChild(_ body: () -> Int32) -> Int32 {
  let child = fork()
  if child == 0 {
    // Ends a child that hangs.
    alarm(60)
    _exit(body())
  }
  var status: Int32 = 0
  guard child > 0, unsafe waitpid(child, &status, 0) == child else { return -1 }
  return status & 0x7F == 0 ? status >> 8 & 0xFF : -status
}

/// Whether a call is refused because the process was forked.
private func isRefused(_ body: () throws -> Void) -> Bool {
  do {
    try body()
    return false
  } catch { return (error as? StoreError)?.code == .forked }
}

@Suite("Processes that fork")
struct ForkTests {
  @Test(
    "A child can't save with its parent's backend, and does not touch its files and lock",
    arguments: TestedBackend.onDisk)
  func backend(_ kind: TestedBackend) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .success) {
      [name = kind.rawValue as String, directory = directory as String] in
      let kind = try #require(TestedBackend(rawValue: name))
      let path = directory + "/Music"
      _ = try kind.makeStore(path)
      var backend: (any DirectoryBackend)? = try kind.open(path)
      try kind.write(2, to: #require(backend))
      let before = try filesBelow(path)
      let code = inForkedChild {
        guard let open = backend else { return 1 }
        if !isRefused({ try kind.write(3, to: open) }) { return 2 }
        if !isRefused({ try open.checkpoint() }) { return 3 }
        if !isRefused({ _ = try open.compact { _ in } }) { return 4 }
        if !isRefused({ try open.backup(to: path + ".copy") { _ in } }) { return 5 }
        if (try? open.close()) == nil { return 6 }
        backend = nil
        return 7
      }
      #expect(code == 7)
      #expect(try filesBelow(path) == before)
      // The lock is still held.
      #expect(throws: StoreError.self) { try kind.open(path) }
      let open = try #require(backend)
      try kind.write(4, to: open)
      try open.checkpoint()
      try kind.write(5, to: open)
      let image = try StoreImage(of: open)
      try open.close()
      #expect(try kind.image(path) == image)
    }
  }

  @Test("A child has threads of its own for actors and queues")
  func ownThreads() async {
    await #expect(processExitsWith: .success) {
      let parent = WorkQueue()
      let count = SharedLock(0)
      parent.run { count.change { $0 += 1 } }
      count.change(once: { $0 == 1 }) { _ in }
      let code = inForkedChild {
        let queue = WorkQueue()
        for _ in 0..<10 { queue.run { count.change { $0 += 1 } } }
        count.change(once: { $0 == 11 }) { _ in }
        return Int32(ThreadPool.shared.threadCount)
      }
      #expect(code == 1)
      parent.run { count.change { $0 += 1 } }
      count.change(once: { $0 == 2 }) { _ in }
    }
  }

  @Test("A child can open a store itself", arguments: TestedBackend.onDisk)
  func ownStore(_ kind: TestedBackend) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .success) {
      [name = kind.rawValue as String, directory = directory as String] in
      let kind = try #require(TestedBackend(rawValue: name))
      let backend = try kind.open(directory + "/Music")
      try kind.write(2, to: backend)
      try backend.close()
      let code = inForkedChild {
        do {
          let own = try kind.open(directory + "/Music")
          try kind.write(3, to: own)
          try own.close()
          return 7
        } catch { return 1 }
      }
      #expect(code == 7)
      #expect(try kind.image(directory + "/Music").tables["Song"]?[2] == [3])
    }
  }

  @Test("A child is refused also if a thread of its parent was saving")
  func whileSaving() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let (isSaving, isForked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isHeldUp = SharedLock(false)
      let files = TestedFileSystem { call, _ in
        if call == .sync || call == .syncData, isHeldUp.withLock({ $0 }) {
          isSaving.signal()
          isForked.wait()
        }
        return nil
      }
      let backend = try TestedBackend.tokyoCabinet.open(directory + "/Music", in: files)
      let saver = Thread {
        isHeldUp.withLock { $0 = true }
        let store = Store(backend: backend)
        try? store.setBuffer(named: "first") { $0.write("text") }
        try? store.saveChanges()
        isHeldUp.withLock { $0 = false }
      }
      let store = Store(backend: backend)
      try store.setBuffer(named: "name") { $0.write("text") }
      saver.start()
      isSaving.wait()
      let code = inForkedChild { isRefused({ try store.saveChanges() }) ? 7 : 1 }
      for _ in 0..<100 { isForked.signal() }
      #expect(code == 7)
    }
  }
}
