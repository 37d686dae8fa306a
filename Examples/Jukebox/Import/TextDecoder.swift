import Foundation

/// Turns the bytes of a text file into text.
enum TextDecoder {
  /// Decodes by the byte order mark, as UTF-8, or as Latin-1 if it is not valid UTF-8.
  static func decode(_ data: Data, mustBeUTF8: Bool) throws -> String {
    if let text = decodeUTF16(data) { return text }
    guard !data.contains(0) else { throw Failure("is not a playlist: it has binary data") }
    let bytes = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    guard !mustBeUTF8 else {
      throw Failure("is not UTF-8, as an .m3u8 file must be. Rename it to .m3u if it is Latin-1")
    }
    return String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
  }

  private static func decodeUTF16(_ data: Data) -> String? {
    guard data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) else { return nil }
    return String(data: data, encoding: .utf16)
  }
}
