import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinetBackend

/// The key of most tests.
let testKey = EncryptionKey(passphrase: "correct horse battery staple", cost: .test)

/// The backends that stores can be encrypted on.
enum EncryptedBackend: String, CaseIterable, CustomTestStringConvertible {
  case tokyoCabinet
  case cdb

  var testDescription: String { rawValue }

  /// Lets a test use a place of this kind that nothing has been written to.
  func withPlace(_ body: (any BackendPlace) throws -> Void) throws {
    try withTemporaryDirectory { try body(DirectoryPlace(kind: self, directory: $0 + "/Store")) }
  }

  /// Opens a directory.
  func open(
    _ directory: String, key: (any StoreKey)? = testKey, readOnly: Bool = false
  ) throws -> any StoreBackend {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend(
        directory: directory, configuration: .init(access: readOnly ? .readOnly : .readWrite),
        key: key)
    case .cdb:
      try CDBBackend(
        directory: directory, configuration: .init(access: readOnly ? .readOnly : .readWrite),
        key: key)
    }
  }

  /// Salvages a directory.
  func salvage(
    _ directory: String, to target: String, key: (any StoreKey)? = testKey
  ) throws -> SalvageReport {
    switch self {
    case .tokyoCabinet:
      try TokyoCabinetBackend.salvage(from: directory, to: target, key: key)
    case .cdb: try CDBBackend.salvage(from: directory, to: target, key: key)
    }
  }

  /// Checks a directory.
  func check(_ directory: String, key: (any StoreKey)? = testKey) throws -> StoreCheck {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend.check(directory: directory, key: key)
    case .cdb: try CDBBackend.check(directory: directory, key: key)
    }
  }
}

/// A directory, on which encrypted stores are opened.
struct DirectoryPlace: BackendPlace {
  let kind: EncryptedBackend
  let directory: String

  func open(readOnly: Bool) throws -> any StoreBackend {
    try kind.open(directory, readOnly: readOnly)
  }
}
