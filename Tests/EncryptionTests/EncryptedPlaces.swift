import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// The key of most tests.
let testKey = EncryptionKey(passphrase: "correct horse battery staple", cost: .test)

/// The backends that stores can be encrypted on.
enum EncryptedBackend: String, CaseIterable, CustomTestStringConvertible {
  case tokyoCabinet
  case cdb

  var testDescription: String { rawValue }

  /// Those with a directory.
  static let inDirectories: [EncryptedBackend] = [.tokyoCabinet, .cdb]

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

  /// Checks a directory.
  func check(_ directory: String, key: (any StoreKey)? = testKey) throws -> StoreCheck {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend.check(directory: directory, key: key)
    case .cdb: try CDBBackend.check(directory: directory, key: key)
    }
  }
}

/// Runs a test in a directory that is removed afterwards.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("encryption-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}
