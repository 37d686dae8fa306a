import ArgumentParser
import CDBBackend
import StoredObjectsCore
import StoredObjectsEncryption
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
  case encryptedTokyoCabinet = "tokyo-cabinet-encrypted"
  case encryptedCDB = "cdb-encrypted"

  var isEncrypted: Bool { key != nil }

  /// One that costs nothing to derive, so that openings are as quick as without.
  private var key: EncryptionKey? {
    switch self {
    case .tokyoCabinet, .cdb: nil
    case .encryptedTokyoCabinet, .encryptedCDB: EncryptionKey(bytes: (0..<32).map { UInt8($0) })
    }
  }

  /// Opens a store, or makes one.
  func open(
    _ directory: String, isReadOnly: Bool, durability: Durability = .full,
    limits: CheckpointLimits
  ) throws -> any CrashedBackend {
    switch self {
    case .tokyoCabinet, .encryptedTokyoCabinet:
      let files = try TokyoCabinetFiles(
        directory: directory,
        configuration: .init(access: isReadOnly ? .readOnly : .readWrite, durability: durability))
      return try TokyoCabinetBackend(
        files: files, durability: durability, limits: limits, key: key)
    case .cdb, .encryptedCDB:
      let files = try CDBFiles(
        directory: directory,
        configuration: .init(access: isReadOnly ? .readOnly : .readWrite, durability: durability))
      return try CDBBackend(files: files, durability: durability, limits: limits, key: key)
    }
  }

  /// Opens a store that other processes have open, too.
  func openShared(_ directory: String, limits: CheckpointLimits) throws -> any CrashedBackend {
    switch self {
    case .tokyoCabinet, .encryptedTokyoCabinet:
      var configuration = TokyoCabinetBackend.Configuration()
      configuration.sharing = .processes
      return try TokyoCabinetBackend(
        directory: directory, configuration: configuration, limits: limits, key: key)
    case .cdb, .encryptedCDB:
      var configuration = CDBBackend.Configuration()
      configuration.sharing = .processes
      return try CDBBackend(
        directory: directory, configuration: configuration, limits: limits, key: key)
    }
  }

  /// Checks a store.
  func check(_ directory: String) throws -> StoreCheck {
    switch self {
    case .tokyoCabinet, .encryptedTokyoCabinet:
      try TokyoCabinetBackend.check(directory: directory, key: key)
    case .cdb, .encryptedCDB: try CDBBackend.check(directory: directory, key: key)
    }
  }
}
