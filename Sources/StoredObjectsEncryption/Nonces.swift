import Crypto
import Files
import Locks
import StoreEngine

/// Random numbers of 96 bits, each used once.
///
/// Among n numbers under one key, two are equal with a probability of about n^2 / 2^97. For 10^9
/// pieces, that is less than 10^-11. For the 2^32 pieces that NIST SP 800-38D allows with random
/// nonces, it is 2^-33. A counter would not collide. But it would have to survive crashes, copies
/// and restored backups of the store, after which it would repeat numbers that were used.
///
/// The numbers are drawn some hundreds at a time, because a system call takes longer than
/// generating them. A forked process must not continue with a store that its parent has open: it
/// would have the same numbers, and the same lock.
final class Nonces: Sendable {
  private static let byteCount = 12
  private static let drawnAtOnce = 256
  private let pool = Locked<ArraySlice<UInt8>>([])

  /// Returns the next number.
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
