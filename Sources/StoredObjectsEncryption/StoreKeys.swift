import Crypto
import Files
import StoreEngine

/// The keys of one store: a random key, and the keys derived from it, one for each use.
struct StoreKeys: Sendable {
  static let identityByteCount = 16

  /// The key that the key file wraps.
  let dataKey: SymmetricKey
  /// The identity of the store, which its copies share.
  let identity: [UInt8]

  /// The key for records, buffers, batches and pages.
  let pieces: SymmetricKey
  /// The key for sealed names.
  let names: SymmetricKey
  /// The key for the scopes that replace names.
  let scopes: SymmetricKey

  /// Creates the keys of a new store.
  init() throws(StoreError) {
    let identity = try cryptoErrors { try randomBytes(Self.identityByteCount) }
    self.init(dataKey: SymmetricKey(size: .bits256), identity: identity)
  }

  init(dataKey: SymmetricKey, identity: [UInt8]) {
    (self.dataKey, self.identity) = (dataKey, identity)
    pieces = Self.derive(dataKey, salt: identity, for: "pieces")
    names = Self.derive(dataKey, salt: identity, for: "names")
    scopes = Self.derive(dataKey, salt: identity, for: "scopes")
  }

  /// Derives a key by HKDF with SHA-256 (RFC 5869).
  static func derive(_ key: SymmetricKey, salt: [UInt8], for use: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, salt: salt, info: Array("StoredObjects 1 \(use)".utf8),
      outputByteCount: EncryptionKey.byteCount)
  }
}
