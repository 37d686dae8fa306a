/// The key of a file that SQLCipher has encrypted.
public struct DatabaseKey: Sendable {
  /// The bytes as SQLCipher takes them.
  let bytes: [UInt8]

  /// Creates the key that SQLCipher derives from a passphrase.
  public init(passphrase: String) { bytes = Array(passphrase.utf8) }

  /// Creates a key of 32 bytes, which SQLCipher uses as it is; nil for another count.
  ///
  /// SQLCipher takes such a key as a literal in hexadecimal digits.
  public init?(raw key: [UInt8]) {
    guard key.count == 32 else { return nil }
    let digits = key.map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    bytes = Array("x'\(digits.joined())'".utf8)
  }
}
