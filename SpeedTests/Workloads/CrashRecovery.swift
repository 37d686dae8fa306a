import Foundation
import KeyValueStoreCore
import StoredObjectsCore

/// Measures the time to open a store after its process has died.
///
/// The count is the number of songs that the process had changed, in saves of 100. The store has
/// ten times as many. A run doesn't close it either: its time ends when one song has been read.
struct CrashRecovery: Workload {
  let name = "CrashRecovery"
  let summary = "open a store whose process died after many saves, and read one song"
  let defaultCounts = [100_000, 1_000_000]
  let timing = Timing.inside
  let rivals: Set<String>? = ["sqlite-c", "lmdb-c"]

  func operations(_ count: Int) -> Int { 1 }

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try insertSongs(workspace, count * 10)
    let store = try workspace.openStore()
    try changeSongs(store, of: count * 10, saves: count / 100) { try $0() }
    // Leaves the files as SIGKILL does: no more code of this process runs.
    _exit(0)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    let store = try workspace.openStore()
    _ = try song(count, of: store)
    workspace.keep([store])
  }
}

/// The same for a key-value store after saves of one short item each.
///
/// The count is the number of saves. The store has a hundred thousand records of 1 kB, so that it
/// keeps up to 64 MiB of them in its log. A run ends when the last item has been read.
struct KeyValueRecovery: Workload {
  let name = "KeyValueRecovery"
  let summary = "open a key-value store whose process died after many saves of one item"
  let defaultCounts = [20_000, 200_000]
  let durabilities: [Durability] = [.process]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func operations(_ count: Int) -> Int { 1 }

  func prepare(_ workspace: Workspace, _ count: Int) throws {
    try load(workspace, 100_000)
    let backend = try workspace.openBackend()
    // The log is to hold only what follows.
    try (backend as? any DirectoryBackend)?.checkpoint()
    let table = try KeyValueStore(backend: backend).createTable("items")
    for number in 1...count { try table.put(value(number), for: key(number)) }
    _exit(0)
  }

  func run(_ workspace: Workspace, _ count: Int) throws {
    let store = try KeyValueStore(backend: workspace.openBackend())
    let found = try store.createTable("items").get(key(count), as: Data.self)
    try expect(found == value(count), "the last item is missing")
    workspace.keep([store])
  }

  private func key(_ number: Int) -> String { "item\(UInt32(number) &* 0x9E37_79B1)" }
  private func value(_ number: Int) -> Data { Data(repeating: UInt8(number % 251), count: 100) }
}
