import CDB
import Files
import Foundation
import Synchronization
import TestFiles
import Testing

/// Yes or no, for several threads.
final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool {
    get { value.load(ordering: .sequentiallyConsistent) }
    set { value.store(newValue, ordering: .sequentiallyConsistent) }
  }
}

/// A number inside an object, which a store can't see change.
private final class Counter: Sendable {
  private let value: Atomic<Int64>
  init(_ number: Int64) { value = Atomic(number) }
  var number: Int64 { value.load(ordering: .sequentiallyConsistent) }
  func increment() { value.add(1, ordering: .sequentiallyConsistent) }
}

private struct CounterCodec: CDBValueCodec {
  func encode(_ value: Counter) throws -> CDBEncodedValue {
    try CDBEncodedValue(tag: 40, bytes: CDBIntegerKeys<Int64>().encode(value.number))
  }
  func decode(_ bytes: RawSpan, tag: UInt8) throws -> Counter {
    Counter(try CDBIntegerKeys<Int64>().decode(bytes))
  }
}

@Suite("Values that are objects, and automatic saves")
struct StoreSavingTests {
  private func waitUntil(_ condition: () -> Bool) async throws -> Bool {
    for _ in 0..<500 {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test("An object keeps its identity until the cache is emptied, and is saved after changes")
  func objects() throws {
    try withTemporaryDirectory { directory in
      let store = CDBStore(directory + "/a.cdb", keys: CDBStringKeys(), values: CounterCodec())
      try store.open()
      store["a"] = Counter(1)
      store["b"] = Counter(1)
      try store.save()
      store.emptyCache()
      let (a, b) = (try #require(store["a"]), try #require(store["b"]))
      #expect(store["a"] === a)
      a.increment()
      b.increment()
      #expect(!store.hasChanges)
      try store.objectChanged(forKey: "a")
      #expect(store.changedKeys == ["a"])
      try store.objectChanged(b)
      try store.objectChanged(forKey: "none")
      try store.objectChanged(Counter(0))
      #expect(Set(store.changedKeys) == ["a", "b"])
      try store.save()
      store.emptyCache()
      #expect(store["a"]?.number == 2)
      #expect(store["b"]?.number == 2)
    }
  }

  @Test("Autosave saves after a delay, all changes at once")
  func autosave() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = CDBStringKeyStore(directory + "/a.cdb")
    try store.open()
    store["before"] = 1
    #expect(store.autosaveInterval == nil)
    store.autosave(after: .milliseconds(20))
    store["after"] = 2
    #expect(try await waitUntil { !store.hasChanges })
    #expect(try CDBReader(directory + "/a.cdb").count == 2)
    store.autosave(after: nil)
    store["later"] = 3
    try await Task.sleep(for: .milliseconds(80))
    #expect(store.hasChanges)
  }

  @Test("Many calls of saveSoon are one save")
  func saveSoon() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let saves = Mutex(0)
    let files = TestedFileSystem { call, _ in
      if call == .rename { saves.withLock { $0 += 1 } }
      return nil
    }
    let store = CDBStore(
      directory + "/a.cdb", keys: CDBStringKeys(), values: CDBValues(), in: files)
    try store.open()
    for number in 0..<100 {
      store["k\(number)"] = .integer(Int64(number))
      store.saveSoon()
    }
    #expect(try await waitUntil { !store.hasChanges })
    try await Task.sleep(for: .milliseconds(60))
    // It is one or two, unless the machine is so busy that the loop is interrupted.
    #expect((1..<50).contains(saves.withLock { $0 }))
  }

  @Test("A failed autosave is reported, keeps the changes, and is tried again")
  func failingAutosave() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let disk = FailingDisk(.synchronize)
    let store = CDBStore(
      directory + "/a.cdb", keys: CDBStringKeys(), values: CDBValues(), in: disk.fileSystem)
    try store.open()
    disk.isFailing = true
    store.autosave(after: .milliseconds(10))
    store["a"] = 1
    #expect(try await waitUntil { store.failure != nil })
    #expect(store.hasChanges)
    disk.isFailing = false
    #expect(try await waitUntil { !store.hasChanges })
  }

  @Test("Threads can read, write and save concurrently")
  func threads() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = CDBStringKeyStore(directory + "/a.cdb")
    try store.open()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<50 {
            store["\(task)/\(number)"] = .integer(Int64(number))
            if number % 25 == 0 { try? store.save() }
            #expect(store["\(task)/\(number)"] == .integer(Int64(number)))
          }
        }
      }
    }
    try store.save()
    #expect(try store.allKeysAndValues().count == 200)
    #expect(store.failure == nil)
  }
}
