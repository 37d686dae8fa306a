import ArgumentParser
import CDBBackend
import StoredObjectsCore
import StoredObjectsEncryption
import TokyoCabinetBackend

/// What the commands do with an open store, whatever its files are.
protocol ToolStore: StoreBackend {
  func logState() throws -> CommitLogState?
  func fileSize(of name: String) throws -> Int
  func orderedTableStates() throws -> [OrderedTableState]
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
    _ directory: String, _ key: EncryptionKey?, progress: (IntegrityProgress) -> Void
  ) throws -> StoreCheck {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.check(directory: directory, key: key, progress: progress)
    case .cdb: try CDBBackend.check(directory: directory, key: key, progress: progress)
    }
  }

  /// Copies what is readable of a directory.
  func salvage(
    _ directory: String, to target: String, _ key: EncryptionKey?,
    progress: (IntegrityProgress) -> Void
  ) throws -> SalvageReport {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.salvage(from: directory, to: target, key: key, progress: progress)
    case .cdb: try CDBBackend.salvage(from: directory, to: target, key: key, progress: progress)
    }
  }

  /// Makes a store in a directory where there is none.
  func make(_ directory: String, _ key: EncryptionKey?) throws -> any ToolStore {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend(directory: directory, key: key)
    case .cdb: try CDBBackend(directory: directory, key: key)
    }
  }

  // MARK: Encryption

  /// Encrypts a store in place.
  func encrypt(
    _ directory: String, _ key: EncryptionKey, progress: (IntegrityProgress) -> Void
  ) throws {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.encrypt(directory: directory, key: key, progress: progress)
    case .cdb: try CDBBackend.encrypt(directory: directory, key: key, progress: progress)
    }
  }

  /// Decrypts a store in place.
  func decrypt(
    _ directory: String, _ key: EncryptionKey, progress: (IntegrityProgress) -> Void
  ) throws {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.decrypt(directory: directory, key: key, progress: progress)
    case .cdb: try CDBBackend.decrypt(directory: directory, key: key, progress: progress)
    }
  }

  /// Gives an encrypted store another key.
  func changeKey(
    _ directory: String, from old: EncryptionKey, to new: EncryptionKey
  ) throws {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.changeKey(directory: directory, from: old, to: new)
    case .cdb: try CDBBackend.changeKey(directory: directory, from: old, to: new)
    }
  }
}
