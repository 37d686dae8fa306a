import Crypto
import CryptoExtras
import Foundation
public import StoreEngine

/// The passphrase or the key of an encrypted store.
///
///     let key = EncryptionKey(passphrase: phrase)
///     let backend = try TokyoCabinetBackend(directory: "Music", key: key)
///
/// A new store is encrypted by it; one that exists opens with the key that it was made with, or was
/// given last. Records are not sealed with this key but with a random one of the store's own, which
/// is kept in `Commit.key` under this one: so the passphrase can be changed without writing the
/// store anew.
///
/// Its bytes are wiped when nobody holds the value any more, and are in no description. The string
/// of a passphrase can't be wiped: let go of it soon.
public struct EncryptionKey: StoreKey {
  let secret: Secret

  enum Secret: Sendable {
    /// UTF-8 of the passphrase, and the cost of a new salt.
    case passphrase(SymmetricKey, PassphraseCost)
    case raw(SymmetricKey)
  }

  /// A key that is derived from a passphrase by scrypt.
  ///
  /// Passphrases that look the same are the same, however their accents are composed.
  ///
  /// - Parameters:
  ///   - passphrase: Not empty; the store is as safe as this is hard to guess. An empty one opens
  ///     and makes no store: that is an error with `wrongKey`.
  ///   - cost: What each guess costs, for stores that are made or given this passphrase; one that
  ///     exists has its own.
  public init(passphrase: String, cost: PassphraseCost = .standard) {
    let bytes = passphrase.precomposedStringWithCanonicalMapping.utf8
    secret = .passphrase(SymmetricKey(data: Array(bytes)), cost)
  }

  /// A key of 256 bits that the application keeps, say in a keyring.
  ///
  /// With another number of bytes than 32 it opens and makes no store: that is an error with
  /// `wrongKey`.
  public init(bytes: [UInt8]) {
    secret = .raw(SymmetricKey(data: bytes))
  }

  /// The size of a key.
  public static let byteCount = 32

  /// Refuses a secret that nobody can have meant.
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

/// What it costs to try a passphrase: the parameters of scrypt (RFC 7914).
public struct PassphraseCost: Hashable, Sendable {
  /// The binary logarithm of N.
  let rounds: UInt8
  /// r.
  let blockSize: UInt32
  /// p.
  let parallelism: UInt32

  /// 32 MiB of memory and about a fifth of a second: N = 2^15, r = 8, p = 3.
  public static let standard = PassphraseCost(rounds: 15, blockSize: 8, parallelism: 3)
  /// Four times that.
  public static let high = PassphraseCost(rounds: 17, blockSize: 8, parallelism: 3)
  /// Next to nothing, for tests: a passphrase is quickly guessed.
  public static let test = PassphraseCost(rounds: 4, blockSize: 8, parallelism: 1)

  /// What is read from a file must not make the machine work for minutes, nor take its memory: at
  /// most 256 MiB, and about three times the work of ``high``.
  var isPlausible: Bool {
    guard (1...20).contains(rounds), (1...32).contains(blockSize), (1...16).contains(parallelism)
    else { return false }
    let blocks = UInt64(blockSize) << UInt64(rounds)
    return blocks <= 1 << 21 && blocks * UInt64(parallelism) <= 1 << 23
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// What kind of key it is; nothing of its bytes.
  public var description: String {
    switch secret {
    case .passphrase: "EncryptionKey(passphrase)"
    case .raw: "EncryptionKey(bytes)"
    }
  }

  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
