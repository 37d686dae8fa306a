import ArgumentParser
import CDBBackend
import StoredObjectsCore
import TokyoCabinetBackend

/// What the commands do with an open store, whatever its files are.
protocol ToolStore: StoreBackend {
  func logState() throws -> CommitLogState?
  func fileSize(of name: String) throws -> Int
  func backup(to directory: String, progress: (IntegrityProgress) -> Void) throws
  func compact(progress: (IntegrityProgress) -> Void) throws -> Int
  func checkpoint() throws
}

extension LoggedBackend: ToolStore where Files: DirectoryFiles {}

/// The kinds of stores that the tool knows.
enum StoreKind: String, CaseIterable, ExpressibleByArgument {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb

  /// Checks a directory that may not even open.
  func check(
    _ directory: String, progress: (IntegrityProgress) -> Void
  ) throws -> StoreCheck {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend.check(directory: directory, progress: progress)
    case .cdb: try CDBBackend.check(directory: directory, progress: progress)
    }
  }

  /// Copies what is readable of a directory.
  func salvage(
    _ directory: String, to target: String, progress: (IntegrityProgress) -> Void
  ) throws -> SalvageReport {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.salvage(from: directory, to: target, progress: progress)
    case .cdb: try CDBBackend.salvage(from: directory, to: target, progress: progress)
    }
  }

  /// Makes a store in a directory where there is none.
  func make(_ directory: String) throws -> any ToolStore {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend(directory: directory)
    case .cdb: try CDBBackend(directory: directory)
    }
  }
}
