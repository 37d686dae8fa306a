import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// An engine, and the program that runs workloads on it.
struct Contestant {
  let name: String
  let title: String
  /// Whether another process can open what this one closed.
  let outlivesProcess: Bool
  /// Whether it runs only if named.
  var isChosenByNameOnly = false
  /// Whether it is an engine of this package.
  let isOurs: Bool
  let program: URL

  /// The engine that ratios refer to.
  static let yardstick = "sqlite-c"
  /// The engine that only stores records under keys.
  private static let recordsOnly = "rocksdb-c"

  /// Whether the program was built.
  var isThere: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

  /// Returns the durability in the name of its results; an engine in memory survives nothing.
  func durability(_ asked: Durability) -> Durability { outlivesProcess ? asked : .none }

  /// Whether its program supports the workload.
  func canRun(_ workload: any Workload) -> Bool {
    isOurs || workload.rivals?.contains(name) ?? (name != Self.recordsOnly)
  }

  /// Whether it runs without being named: millions of records are left to the fast engines.
  func takesPart(in workload: any Workload) -> Bool {
    if isChosenByNameOnly || !canRun(workload) { return false }
    return workload.defaultCounts.count == 1
      || !["memory", "grdb", "grdb-optimised"].contains(name)
  }

  /// Returns all contestants, built or not.
  ///
  /// - Parameter rivals: The folder of the rivals' programs.
  /// - Returns: The contestants, with those of this package first.
  static func all(rivals: String?) -> [Contestant] {
    let folder = URL(fileURLWithPath: rivals ?? "/nonexistent")
    return ours(engines, "speedtests-worker")
      + encrypted
      + others.map { name, title, program in
        Contestant(
          name: name, title: title, outlivesProcess: true, isOurs: false,
          program: folder.appending(path: program))
      }
  }

  private static func ours(_ engines: [any Engine], _ program: String) -> [Contestant] {
    engines.map {
      Contestant(
        name: $0.name, title: $0.title, outlivesProcess: $0.outlivesProcess,
        isChosenByNameOnly: $0.isChosenByNameOnly, isOurs: true, program: ownProgram(program))
    }
  }

  /// Run by name only, so that swift-crypto is built only for measurements of encryption.
  private static let encrypted = [
    ("tokyo-cabinet-encrypted", "StoredObjects on Tokyo Cabinet, encrypted"),
    ("cdb-encrypted", "StoredObjects on CDB, encrypted"),
  ].map { name, title in
    Contestant(
      name: name, title: title, outlivesProcess: true, isChosenByNameOnly: true, isOurs: true,
      program: ownProgram("speedtests-worker-encrypted"))
  }

  private static let others = [
    (yardstick, "SQLite in C", "c-rivals"),
    ("grdb-optimised", "GRDB, optimised by hand", "grdb-rivals"),
    ("grdb", "GRDB as documented", "grdb-rivals"),
    ("tokyo-cabinet-c", "Tokyo Cabinet in C", "c-rivals"),
    ("lmdb-c", "LMDB in C", "c-rivals"),
    (recordsOnly, "RocksDB in C", "rocksdb-rival"),
  ]
}

/// Returns the URL of a program of this package, in the same directory as this one.
func ownProgram(_ name: String) -> URL {
  URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: name)
}
