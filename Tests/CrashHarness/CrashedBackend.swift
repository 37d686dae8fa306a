import ArgumentParser
import CDBBackend
import StoredObjectsCore
import TokyoCabinetBackend

/// A backend with a commit log, on files of any format.
protocol CrashedBackend: StoreBackend {
  var tornTailByteCount: Int? { get }
  func checkpoint() throws
  func compact(progress: (IntegrityProgress) -> Void) throws -> Int
}

extension LoggedBackend: CrashedBackend {}

/// The backends that can be tried.
enum BackendName: String, ExpressibleByArgument, CaseIterable {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb

  /// Opens a store, or makes one.
  func open(
    _ directory: String, isReadOnly: Bool, durability: Durability = .full,
    limits: CheckpointLimits
  ) throws -> any CrashedBackend {
    switch self {
    case .tokyoCabinet:
      let files = try TokyoCabinetFiles(
        directory: directory,
        configuration: .init(access: isReadOnly ? .readOnly : .readWrite, durability: durability))
      return try TokyoCabinetBackend(files: files, durability: durability, limits: limits)
    case .cdb:
      let files = try CDBFiles(
        directory: directory,
        configuration: .init(access: isReadOnly ? .readOnly : .readWrite, durability: durability))
      return try CDBBackend(files: files, durability: durability, limits: limits)
    }
  }

  /// Checks a store.
  func check(_ directory: String) throws -> StoreCheck {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend.check(directory: directory)
    case .cdb: try CDBBackend.check(directory: directory)
    }
  }
}
