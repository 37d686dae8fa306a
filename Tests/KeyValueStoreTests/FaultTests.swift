import CDB
import CDBBackend
import Files
import Foundation
import KeyValueStore
import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing
import TokyoCabinetBackend

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("Key-value stores: files, forks and failing calls")
struct FaultTests {

  private func mode(_ path: String) throws -> UInt32? { try FileStatus.find(path)?.rights.mode }

  @Test("The directory of a named store is for its owner only, and so are its files")
  func named() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      unsafe setenv("XDG_DATA_HOME", directory + "/share/data", 1)
      let store = try KeyValueStore(named: "Notebook")
      try await store.createTable("a").put(1, for: "b")
      try store.close()
      for path in ["/share", "/share/data", "/share/data/Notebook"] {
        #expect(try FileStatus.find(directory + path)?.rights.mode == 0o700)
      }
      let notebook = directory + "/share/data/Notebook"
      for name in try directoryEntries(notebook) {
        #expect(try FileStatus.find(notebook + "/" + name)?.rights.mode == 0o600)
      }
    }
  }

  @Test("A forked child can't write, also while its parent's threads write")
  func forked() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      var store: KeyValueStore? = try KeyValueStore(directory: directory + "/store")
      let table = try await #require(store).createTable("a")
      try await table.put(1, for: "first")
      let put: @Sendable (Int, String) throws -> Void = { try table.put($0, for: $1) }
      let child = fork()
      if child == 0 {
        alarm(60)
        do {
          try put(2, "second")
          _exit(1)
        } catch let error as StoreError where error.code == .forked {
          store = nil
          _exit(7)
        } catch { _exit(2) }
      }
      var status: Int32 = 0
      _ = unsafe waitpid(child, &status, 0)
      #expect(status == 7 << 8)
      try put(3, "third")
      #expect(try table.all.items().map(\.key) == ["first", "third"])
      try store?.close()
    }
  }

  @Test("An inherited constant database is saved by the parent only")
  func forkedCDB() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      var store: CDBStringKeyStore? = CDBStringKeyStore(directory + "/a.cdb")
      try store?.open()
      store?["a"] = 1
      let child = fork()
      if child == 0 {
        alarm(60)
        do {
          try store?.save()
          _exit(1)
        } catch let error as CDBError where error.code == .forked {
          store = nil
          _exit(7)
        } catch { _exit(2) }
      }
      var status: Int32 = 0
      _ = unsafe waitpid(child, &status, 0)
      #expect(status == 7 << 8)
      #expect(try !exists(directory + "/a.cdb"))
      try store?.save()
      #expect(try exists(directory + "/a.cdb"))
    }
  }

  /// Writes and reads, with whatever fails; what was acknowledged, and keys of which nobody
  /// knows.
  private func session(
    _ kind: TestedBackend, at path: String, in files: any FileSystem
  ) -> (known: [String: Int], open: Set<String>) {
    var (known, open): ([String: Int], Set<String>) = ([:], [])
    for round in 0..<3 {
      guard
        let store = try? KeyValueStore(backend: kind.openSmall(path, in: files))
      else { continue }
      for number in 0..<6 {
        let key = "\(number % 4)"
        do {
          let table = try store.createTable("table")
          // Two of them go past the log.
          let filler = String(repeating: "x", count: number == 4 ? 3000 : 3)
          try store.write { batch in
            try batch.put(round * 10 + number, for: key, in: table)
            try batch.put(filler, for: "filler", in: table)
          }
          known[key] = round * 10 + number
          open.remove(key)
          if let read = try table.get(key, as: Int.self), read != known[key] {
            Issue.record("read \(read)")
          }
        } catch let error as StoreError {
          if error.code == .reopenNeeded { open.insert(key) }
        } catch {}
      }
      try? store.close()
    }
    return (known, open)
  }

  @Test(
    "After any failing system call, no acknowledged item is lost", arguments: TestedBackend.onDisk)
  func failing(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "failing calls of key-value stores")
    let isThorough = ProcessInfo.processInfo.environment["STOREDOBJECTS_EVERY_CALL"] != nil
    var call = 1
    var isFailed = true
    while isFailed {
      isFailed = try kind.withLocation { location in
        let count = SharedLock(0)
        let failing = call
        let files = TestedFileSystem { _, _ in
          count.withLock {
            $0 += 1
            return $0 == failing ? EIO : nil
          }
        }
        let (known, open) = session(kind, at: location.path, in: files)
        let store = try location.open()
        let table = try store.createTable("table")
        for (key, value) in known where !open.contains(key) {
          #expect(try table.get(key, as: Int.self) == value, "call \(failing)")
        }
        try store.close()
        return count.withLock { $0 >= failing }
      }
      call += isThorough ? 1 : Int.random(in: 1...20, using: &generator)
      try #require(call < 3_000)
    }
    #expect(call > 50)
  }
}
