import Crypto
import CryptoExtras
import Foundation
import StoreEngine

/// The cipher of BNRPersistence records: AES-128-CBC with a zero initialization vector, PKCS #7.
///
///     key        MD5 of the salt (8) and the passphrase in UTF-8
///     plaintext  salt (8) | version byte | content
///     salt       that of the class's metadata row, its second word XOR the row ID, little-endian
///
/// It is for reading only. The key is the result of a single MD5, equal records in two stores with
/// the same passphrase and salt are equal, and changes are not detected.
struct BNRCipher {
  private let passphrase: [UInt8]

  init(passphrase: String) { self.passphrase = Array(passphrase.utf8) }

  /// Returns the plain record, or nil if it was not encrypted with this passphrase for this row.
  func opened(_ record: [UInt8], _ metadata: ClassMetadata, rowID: UInt32) -> [UInt8]? {
    let salt = bytes(metadata.salt.first) + bytes(metadata.salt.second ^ rowID)
    let key = SymmetricKey(data: Array(Insecure.MD5.hash(data: salt + passphrase)))
    guard !record.isEmpty, record.count % 16 == 0,
      let vector = try? AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16)),
      let plain = try? AES._CBC.decrypt(record, using: key, iv: vector),
      plain.starts(with: salt)
    else { return nil }
    return Array(plain.dropFirst(salt.count))
  }

  private func bytes(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
  }
}
