import Files
import FoundationEssentials
import StoreEngine

/// A key of the ordered table of a table's expiry times: the time, and then the key of the item.
enum ExpiryKey {
  static let timeSize = 8

  /// The key for an item.
  static func bytes(_ date: Date, _ key: [UInt8]) -> [UInt8] { time(date) + key }

  /// The keys of what expires at a moment or before it.
  static func range(through now: Date) -> KeyRange {
    KeyRange(to: KeyRange.end(ofPrefix: time(now)))
  }

  /// A time as eight bytes that are ordered as times are.
  private static func time(_ date: Date) -> [UInt8] {
    let bits = date.timeIntervalSinceReferenceDate.bitPattern
    let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    var bytes: [UInt8] = []
    bytes.append(bigEndian: ordered)
    return bytes
  }

  /// The key of the item; nil when the bytes make no sense.
  static func itemKey(_ bytes: RawSpan) -> [UInt8]? {
    guard bytes.byteCount >= timeSize else { return nil }
    return [UInt8](copying: bytes.extracting(timeSize..<bytes.byteCount))
  }

  /// Whether the bytes are those of an item with this time.
  static func isTime(_ date: Date?, of bytes: [UInt8]) -> Bool {
    date.map { bytes.starts(with: time($0)) } ?? false
  }
}
