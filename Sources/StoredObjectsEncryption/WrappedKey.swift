import Crypto
import CryptoExtras
import Files
import Foundation
import StoreEngine

/// The content of a key file: the key of the store, sealed with a key derived from the user's.
///
///     kind (1)      1: key, 2: passphrase
///     cost          log2 N (1), r (4), p (4); zeros for a key
///     salt (16)     new with each wrapping
///     store (16)    the identity of the store, never changed
///     key           nonce (12), 32 bytes by AES-256-GCM, tag (16); all bytes before it are
///                   authenticated
///
/// Numbers are little-endian.
struct WrappedKey {
  private enum Kind: UInt8 {
    case raw = 1
    case passphrase = 2
  }

  private static let saltByteCount = 16
  private static let headByteCount = 10 + saltByteCount + StoreKeys.identityByteCount
  static let byteCount = headByteCount + 12 + EncryptionKey.byteCount + 16

  /// Wraps the keys of a store.
  ///
  /// - Throws: `StoreError` with `wrongKey` for an unusable key.
  static func wrap(_ keys: StoreKeys, with key: EncryptionKey) throws(StoreError) -> [UInt8] {
    try key.requireUsable()
    var head = DataBuffer()
    let (kind, cost) = kindAndCost(of: key)
    head.write(kind.rawValue)
    head.write(cost?.rounds ?? 0)
    head.write(cost?.blockSize ?? 0)
    head.write(cost?.parallelism ?? 0)
    let salt = try cryptoErrors { try randomBytes(saltByteCount) }
    let bytes = head.bytes + salt + keys.identity
    let wrapping = try derive(key, cost: cost, salt: salt)
    let box = try cryptoErrors {
      try unsafe keys.dataKey.withUnsafeBytes {
        try unsafe AES.GCM.seal($0, using: wrapping, authenticating: bytes)
      }
    }
    return bytes + (box.combined ?? Data())
  }

  /// Returns the keys of a store.
  ///
  /// - Throws: `StoreError` with `wrongKey`, or `damaged`.
  static func unwrap(_ bytes: [UInt8], with key: EncryptionKey) throws(StoreError) -> StoreKeys {
    try key.requireUsable()
    guard bytes.count == byteCount, let kind = Kind(rawValue: bytes[0]) else { throw damaged }
    guard kind == kindAndCost(of: key).0 else { throw wrongKind(kind) }
    var buffer = DataBuffer(Array(bytes[1...]))
    guard let rounds = try? buffer.readUInt8(), let blockSize = try? buffer.readUInt32(),
      let parallelism = try? buffer.readUInt32()
    else { throw damaged }
    let cost = PassphraseCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
    guard kind == .raw || cost.isPlausible else { throw damaged }
    let head = Array(bytes[..<headByteCount])
    let wrapping = try derive(
      key, cost: kind == .raw ? nil : cost, salt: Array(head[10..<10 + saltByteCount]))
    guard let box = try? AES.GCM.SealedBox(combined: bytes[headByteCount...]),
      var opened = try? AES.GCM.open(box, using: wrapping, authenticating: head)
    else { throw wrongKey }
    defer { opened.resetBytes(in: 0..<opened.count) }
    return StoreKeys(
      dataKey: SymmetricKey(data: opened), identity: Array(head[(10 + saltByteCount)...]))
  }

  private static func kindAndCost(of key: EncryptionKey) -> (Kind, PassphraseCost?) {
    switch key.secret {
    case .raw: (.raw, nil)
    case .passphrase(_, let cost): (.passphrase, cost)
    }
  }

  /// Derives the wrapping key: by scrypt from a passphrase, by HKDF from a key.
  private static func derive(
    _ key: EncryptionKey, cost: PassphraseCost?, salt: [UInt8]
  ) throws(StoreError) -> SymmetricKey {
    switch key.secret {
    case .raw(let raw): return StoreKeys.derive(raw, salt: salt, for: "wrap")
    case .passphrase(let passphrase, let own):
      let cost = cost ?? own
      return try cryptoErrors {
        try unsafe passphrase.withUnsafeBytes {
          try unsafe KDF.Scrypt.deriveKey(
            from: $0, salt: salt, outputByteCount: EncryptionKey.byteCount,
            rounds: 1 << Int(cost.rounds), blockSize: Int(cost.blockSize),
            parallelism: Int(cost.parallelism))
        }
      }
    }
  }

  // MARK: Errors

  private static var damaged: StoreError {
    StoreError(
      .damaged, "The key file is damaged, or from a later version: restore it from a backup.")
  }

  private static var wrongKey: StoreError {
    StoreError(.wrongKey, "The passphrase or key is not that of the store.")
  }

  private static func wrongKind(_ kind: Kind) -> StoreError {
    StoreError(
      .wrongKey,
      kind == .raw
        ? "The store opens with a key of 32 bytes, and a passphrase was given."
        : "The store opens with a passphrase, and a key of 32 bytes was given.")
  }
}
