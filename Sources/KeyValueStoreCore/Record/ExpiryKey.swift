import Files
import FoundationEssentials
import StoreEngine

/// A key in the table of expiry times: the time, followed by the key of the item.
enum ExpiryKey {
  static let timeSize = 8

  /// Returns the key for an item.
  static func bytes(_ date: Date, _ key: [UInt8]) -> [UInt8] { time(date) + key }

  /// Returns the keys of the items that expire at a time or before it.
  static func range(through now: Date) -> KeyRange {
    KeyRange(to: KeyRange.end(ofPrefix: time(now)))
  }

  /// Returns a time as eight bytes that sort as times do.
  private static func time(_ date: Date) -> [UInt8] {
    let bits = date.timeIntervalSinceReferenceDate.bitPattern
    let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    var bytes: [UInt8] = []
    bytes.append(bigEndian: ordered)
    return bytes
  }

  /// Returns the key of the item, or nil if the bytes are invalid.
  static func itemKey(_ bytes: RawSpan) -> [UInt8]? {
    guard bytes.byteCount >= timeSize else { return nil }
    return [UInt8](copying: bytes.extracting(timeSize..<bytes.byteCount))
  }

  /// Returns whether the bytes begin with a time.
  static func isTime(_ date: Date?, of bytes: [UInt8]) -> Bool {
    date.map { bytes.starts(with: time($0)) } ?? false
  }
}
