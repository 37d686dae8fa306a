import Foundation
import SpeedWorkloads
import StoredObjectsCore

/// An engine, and the program that runs workloads on it.
struct Contestant {
  let name: String
  let title: String
  /// Whether another process can open what this one closed.
  let outlivesProcess: Bool
  /// Whether it is left out unless somebody asks for it.
  var isChosenByNameOnly = false
  /// Whether it is one of this package.
  let isOurs: Bool
  let program: URL

  /// The engine that the ratios are to.
  static let yardstick = "sqlite-c"
  /// The engine that has records under keys, and nothing else.
  private static let recordsOnly = "rocksdb-c"

  /// Whether the program was built.
  var isThere: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

  /// What its results are called: what it keeps in memory survives nothing.
  func durability(_ asked: Durability) -> Durability { outlivesProcess ? asked : .none }

  /// Whether its program has the workload.
  func canRun(_ workload: any Workload) -> Bool {
    isOurs || workload.rivals?.contains(name) ?? (name != Self.recordsOnly)
  }

  /// Whether it is run when nobody names it: millions of records are left to the quick ones.
  func takesPart(in workload: any Workload) -> Bool {
    if isChosenByNameOnly || !canRun(workload) { return false }
    return workload.defaultCounts.count == 1
      || !["memory", "grdb", "grdb-optimised"].contains(name)
  }

  /// All there are, whether built or not.
  ///
  /// - Parameter rivals: the folder of the rivals' programs.
  /// - Returns: those of this package first.
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

  /// By name, so that nobody builds swift-crypto who measures nothing encrypted.
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

/// A program of this package, beside this one.
func ownProgram(_ name: String) -> URL {
  URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: name)
}
