import Crypto
import CryptoExtras
import Foundation
public import StoreEngine

/// The passphrase or the key of an encrypted store.
///
///     let key = EncryptionKey(passphrase: phrase)
///     let backend = try TokyoCabinetBackend(directory: "Music", key: key)
///
/// A new store is encrypted with the key. An existing store opens with the key that it was created
/// with, or was changed to last. Records are sealed not with this key but with a random key of the
/// store, which `Commit.key` holds, wrapped by this one. So you can change the passphrase without
/// rewriting the store.
///
/// The bytes of the key are wiped when the last copy is released, and are in no description. The
/// string of a passphrase can't be wiped: release it soon.
public struct EncryptionKey: StoreKey {
  let secret: Secret

  enum Secret: Sendable {
    /// The passphrase in UTF-8, and the cost for a new salt.
    case passphrase(SymmetricKey, PassphraseCost)
    case raw(SymmetricKey)
  }

  /// Creates a key that is derived from a passphrase by scrypt.
  ///
  /// Passphrases that look the same are the same, however their accents are composed.
  ///
  /// Complexity: linear in the length of the passphrase; the key is derived later, when a store is
  /// opened or created.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase. The store is as safe as it is hard to guess. With an empty
  ///     passphrase, opening or creating a store throws `wrongKey`.
  ///   - cost: The cost of each guess, for stores that are created with or changed to this
  ///     passphrase. An existing store has its own.
  public init(passphrase: String, cost: PassphraseCost = .standard) {
    let bytes = passphrase.precomposedStringWithCanonicalMapping.utf8
    secret = .passphrase(SymmetricKey(data: Array(bytes)), cost)
  }

  /// Creates a key from 256 bits that your application stores, for example in a keyring.
  ///
  /// With a number of bytes other than 32, opening or creating a store throws `wrongKey`.
  ///
  /// Complexity: linear in the number of bytes, which are copied.
  public init(bytes: [UInt8]) {
    secret = .raw(SymmetricKey(data: bytes))
  }

  /// The size of a key in bytes.
  public static let byteCount = 32

  /// Throws if the passphrase is empty or the key has the wrong size.
  ///
  /// - Throws: `StoreError` with `wrongKey`.
  func requireUsable() throws(StoreError) {
    switch secret {
    case .passphrase(let passphrase, _) where passphrase.bitCount == 0:
      throw StoreError(.wrongKey, "The passphrase is empty: give one that is hard to guess.")
    case .raw(let raw) where raw.bitCount != 8 * Self.byteCount:
      throw StoreError(
        .wrongKey, "The key has \(raw.bitCount / 8) bytes: give one of \(Self.byteCount).")
    default: break
    }
  }
}

/// The cost of trying a passphrase: the parameters of scrypt (RFC 7914).
public struct PassphraseCost: Hashable, Sendable {
  /// The binary logarithm of N.
  let rounds: UInt8
  /// The parameter r.
  let blockSize: UInt32
  /// The parameter p.
  let parallelism: UInt32

  /// A cost of 32 MiB of memory and about a fifth of a second: N = 2^15, r = 8, p = 3.
  public static let standard = PassphraseCost(rounds: 15, blockSize: 8, parallelism: 3)
  /// A cost of four times the standard.
  public static let high = PassphraseCost(rounds: 17, blockSize: 8, parallelism: 3)
  /// A minimal cost for tests: a passphrase is quickly guessed.
  public static let test = PassphraseCost(rounds: 4, blockSize: 8, parallelism: 1)

  /// Whether the cost is acceptable for a key file that is read.
  ///
  /// A file must not make the machine work for minutes or use all its memory. The limits are 256
  /// MiB, and about three times the work of ``high``. N is less than 2 to the power of 16 r, by
  /// section 2 of RFC 7914. The crypto library reserves too little memory for other costs of p = 1
  /// with large blocks.
  var isPlausible: Bool {
    guard (1...20).contains(rounds), (1...32).contains(blockSize), (1...16).contains(parallelism),
      rounds < 16 * blockSize, parallelism > 1 || blockSize <= 16
    else { return false }
    let blocks = UInt64(blockSize) << UInt64(rounds)
    return blocks <= 1 << 21 && blocks * UInt64(parallelism) <= 1 << 23
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// The kind of the key, without any of its bytes.
  public var description: String {
    switch secret {
    case .passphrase: "EncryptionKey(passphrase)"
    case .raw: "EncryptionKey(bytes)"
    }
  }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
