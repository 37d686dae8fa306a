/// The form of sealed names, which are the names of files and the keys of named buffers.
///
///     name  -->  UTF-8, 80, and zeros up to 15, 31, 47 ... bytes  -->  sealed  -->  base 32
///
/// The padding hides most of a name's length. Lowercase base 32 is a valid file name on any file
/// system.
enum SealedName {
  /// The longest name of a class that fits into a file name when it is sealed.
  static let maximumByteCount = 126

  private static let step = 16
  private static let mark: UInt8 = 0x80
  private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  static func padded(_ name: String) -> [UInt8] {
    var bytes = Array(name.utf8) + [mark]
    while bytes.count % step != step - 1 { bytes.append(0) }
    return bytes
  }

  static func unpadded(_ bytes: [UInt8]) -> String? {
    guard let end = bytes.lastIndex(where: { $0 != 0 }), bytes[end] == mark else { return nil }
    return String(validating: bytes[..<end], as: UTF8.self)
  }

  /// Returns bytes in base 32, five bits per character, most significant bits first.
  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for byte in bytes {
      (bits, count) = (bits << 8 | UInt32(byte), count + 8)
      while count >= 5 {
        count -= 5
        text.append(digits[Int(bits >> UInt32(count) & 31)])
      }
    }
    if count > 0 { text.append(digits[Int(bits << UInt32(5 - count) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the bytes of a text; nil unless it is exactly what ``text(_:)`` returns for them.
  static func bytes(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for character in text.utf8 {
      guard let digit = digits.firstIndex(of: character) else { return nil }
      (bits, count) = (bits << 5 | UInt32(digit), count + 5)
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return Self.text(bytes) == text ? bytes : nil
  }
}
