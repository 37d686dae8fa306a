import Foundation
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
