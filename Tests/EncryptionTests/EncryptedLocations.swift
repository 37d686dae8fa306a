import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import TestedBackends

/// The key of most tests.
let testKey = EncryptionKey(passphrase: "correct horse battery staple", cost: .test)

extension StoreFormat {
  /// Lets a test use a place of this format that nothing has been written to.
  func withLocation(_ body: (any BackendLocation) throws -> Void) throws {
    try withTemporaryDirectory { try body(DirectoryLocation(self, $0 + "/Store", key: testKey)) }
  }

  /// Opens a directory.
  func open(
    _ directory: String, key: (any StoreKey)? = testKey, readOnly: Bool = false
  ) throws -> any DirectoryBackend {
    try open(directory, access: readOnly ? .readOnly : .readWrite, key: key)
  }

  /// Salvages a directory.
  func salvage(
    _ directory: String, to target: String, key: (any StoreKey)? = testKey
  ) throws -> SalvageReport {
    try backend.salvage(from: directory, to: target, key: key) { _ in }
  }

  /// Checks a directory.
  func check(_ directory: String, key: (any StoreKey)? = testKey) throws -> StoreCheck {
    try backend.check(directory: directory, key: key) { _ in }
  }
}
