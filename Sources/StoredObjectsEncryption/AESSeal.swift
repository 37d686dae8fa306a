import Crypto
import CryptoExtras
import Foundation
import StoreEngine

/// A seal by AES-256-GCM, with a random nonce for each piece.
///
///     nonce (12) | ciphertext | tag (16)
///
/// The tag covers the place of the piece: the store's identity, the kind of piece, its scope and
/// its number.
final class AESSeal: StoreSeal {
  private let keys: StoreKeys
  private let nonces = Nonces()

  init(_ keys: StoreKeys) { self.keys = keys }

  var overhead: Int { 12 + 16 }

  func scope(of name: String) -> SealedLocation.Scope {
    let code = HMAC<SHA256>.authenticationCode(for: Array(name.utf8), using: keys.scopes)
    let words = code.prefix(16).reduce((high: UInt64(0), low: UInt64(0))) { words, byte in
      (words.high << 8 | words.low >> 56, words.low << 8 | UInt64(byte))
    }
    return SealedLocation.Scope(words.high, words.low)
  }

  // MARK: Pieces

  func seal(
    _ bytes: RawSpan, at location: SealedLocation, to sealed: inout [UInt8]
  ) throws(StoreError) {
    let location = authenticated(location)
    let nonce = try nonces.next()
    let box = try cryptoErrors {
      try unsafe bytes.withUnsafeBytes { message in
        try unsafe location.span.withUnsafeBytes {
          try unsafe AES.GCM.seal(
            message, using: keys.pieces, nonce: nonce, authenticating: $0)
        }
      }
    }
    unsafe box.combined?.withUnsafeBytes { unsafe sealed.append(contentsOf: $0) }
  }

  func open(_ sealed: RawSpan, at location: SealedLocation, to bytes: inout [UInt8]) -> Bool {
    let location = authenticated(location)
    let opened = unsafe sealed.withUnsafeBytes { sealed in
      unsafe location.span.withUnsafeBytes { location -> Data? in
        guard let box = try? unsafe AES.GCM.SealedBox(combined: sealed) else { return nil }
        return try? unsafe AES.GCM.open(box, using: keys.pieces, authenticating: location)
      }
    }
    guard let opened else { return false }
    unsafe opened.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    return true
  }

  /// Returns identity, kind, scope and number, little-endian.
  private func authenticated(_ location: SealedLocation) -> InlineArray<41, UInt8> {
    var bytes = InlineArray<41, UInt8>(repeating: 0)
    for index in 0..<StoreKeys.identityByteCount { bytes[index] = keys.identity[index] }
    bytes[16] = location.kind.rawValue
    var start = 17
    for word in [location.scope.high, location.scope.low, location.number] {
      for byte in 0..<8 {
        bytes[start + byte] = UInt8(truncatingIfNeeded: word >> UInt64(8 * byte))
      }
      start += 8
    }
    return bytes
  }

  // MARK: Names

  /// The nonce of zeros for AES-256-GCM-SIV (RFC 8452), which reveals only which names are equal.
  private static let nameNonce = [UInt8](repeating: 0, count: 12)

  func sealName(_ name: [UInt8]) throws(StoreError) -> [UInt8] {
    try cryptoErrors {
      let nonce = try AES.GCM._SIV.Nonce(data: Self.nameNonce)
      let box = try AES.GCM._SIV.seal(
        name, using: keys.names, nonce: nonce, authenticating: keys.identity)
      return Array(box.ciphertext + box.tag)
    }
  }

  func openName(_ sealed: [UInt8]) -> [UInt8]? {
    guard let nonce = try? AES.GCM._SIV.Nonce(data: Self.nameNonce), sealed.count >= 16,
      let box = try? AES.GCM._SIV.SealedBox(
        nonce: nonce, ciphertext: sealed.dropLast(16), tag: sealed.suffix(16)),
      let name = try? AES.GCM._SIV.open(box, using: keys.names, authenticating: keys.identity)
    else { return nil }
    return Array(name)
  }
}
