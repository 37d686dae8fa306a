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

/// The backends that can be tested.
enum BackendName: String, ExpressibleByArgument, CaseIterable {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb
  case encryptedTokyoCabinet = "tokyo-cabinet-encrypted"
  case encryptedCDB = "cdb-encrypted"

  var isEncrypted: Bool { key != nil }

  /// A key that takes no time to derive, so that openings are as fast as without one.
  private var key: EncryptionKey? {
    switch self {
    case .tokyoCabinet, .cdb: nil
    case .encryptedTokyoCabinet, .encryptedCDB: EncryptionKey(bytes: (0..<32).map { UInt8($0) })
    }
  }

  /// Opens a store, or creates one.
  func open(
    _ directory: String, isReadOnly: Bool, durability: Durability = .full,
    sharing: StoreSharing = .exclusive, limits: CheckpointLimits
  ) throws -> any CrashedBackend {
    switch self {
    case .tokyoCabinet, .encryptedTokyoCabinet:
      var configuration = TokyoCabinetBackend.Configuration(
        access: isReadOnly ? .readOnly : .readWrite, durability: durability)
      configuration.sharing = sharing
      return try TokyoCabinetBackend(
        directory: directory, configuration: configuration, limits: limits, key: key)
    case .cdb, .encryptedCDB:
      var configuration = CDBBackend.Configuration(
        access: isReadOnly ? .readOnly : .readWrite, durability: durability)
      configuration.sharing = sharing
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
