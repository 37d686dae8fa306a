import Foundation

/// Turns the bytes of a text file into text.
enum TextDecoder {
  /// Knows byte order marks; else it is UTF-8, and Latin-1 where it can't be that.
  static func decode(_ data: Data, mustBeUTF8: Bool) throws -> String {
    if let text = decodeUTF16(data) { return text }
    guard !data.contains(0) else { throw Failure("is no playlist: it holds binary data") }
    let bytes = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    guard !mustBeUTF8 else {
      throw Failure("is not UTF-8, as .m3u8 must be; name it .m3u if it is Latin-1")
    }
    return String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
  }

  private static func decodeUTF16(_ data: Data) -> String? {
    guard data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) else { return nil }
    return String(data: data, encoding: .utf16)
  }
}
