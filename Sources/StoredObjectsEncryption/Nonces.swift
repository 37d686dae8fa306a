import Crypto
import Files
import Locks
import StoreEngine

/// Random numbers of 96 bits, each used once.
///
/// Among n of them under one key, two are equal with a probability of about n^2 / 2^97: for 10^9
/// pieces that is less than 10^-11, and for the 2^32 that NIST SP 800-38D allows with random
/// nonces, 2^-33. A counter would not collide, but would have to survive crashes, copies and
/// restored backups of the store, after each of which it would count again over numbers that were
/// used.
///
/// They are drawn some hundreds at a time, because the system takes longer to be asked than to
/// answer. A process that has been forked must not go on with a store that its parent has open: it
/// would have the same numbers, and the same lock.
final class Nonces: Sendable {
  private static let byteCount = 12
  private static let drawnAtOnce = 256
  private let pool = Locked<ArraySlice<UInt8>>([])

  /// The next number.
  func next() throws(StoreError) -> AES.GCM.Nonce {
    try cryptoErrors {
      try pool.withLock { pool in
        if pool.isEmpty { pool = try randomBytes(Self.byteCount * Self.drawnAtOnce)[...] }
        let nonce = try AES.GCM.Nonce(data: pool.prefix(Self.byteCount))
        pool.removeFirst(Self.byteCount)
        return nonce
      }
    }
  }
}
