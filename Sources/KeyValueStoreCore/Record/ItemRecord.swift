import Files
import FoundationEssentials
import StoreEngine

/// A stored item: a head with the times, the value, and a checksum.
///
/// The checksum covers the number of the table and the key, so that an item under another key is
/// detected.
struct ItemRecord {
  var head: ItemHead
  var value: StoredValue
}

/// The times of an item.
struct ItemHead {
  var createdAt: Date
  var updatedAt: Date
  var expiresAt: Date?

  /// Returns whether the item has expired.
  func isExpired(_ now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// The checksum of an item, which begins with the location of the item.
enum ItemChecksum {
  /// Returns the checksum of a table, a key and the bytes of a record.
  static func value(_ table: UInt32, _ key: RawSpan, _ record: RawSpan) -> UInt32 {
    var checksum = begin(table, keyCount: key.byteCount)
    checksum.update(Span<UInt8>(_bytes: key))
    checksum.update(Span<UInt8>(_bytes: record))
    return checksum.value
  }

  /// Returns the checksum of the part before the key.
  static func begin(_ table: UInt32, keyCount: Int) -> CRC32C {
    var checksum = CRC32C()
    (UInt64(keyCount) << 32 | UInt64(table)).lendLittleEndian {
      checksum.update(Span<UInt8>(_bytes: $0))
    }
    return checksum
  }
}

enum ItemFormat {
  /// The first byte: the format version in the upper half, flags in the lower half.
  static let version: UInt8 = 0x10
  static let isUpdated: UInt8 = 1
  static let expires: UInt8 = 2
  static let knownFlags = isUpdated | expires
  static let checksumSize = 4

  /// The size of a head with all three times.
  static let maximumHeadSize = 25

  /// Appends a record to bytes that end with its key.
  ///
  /// - Throws: `StoreError` with `notEncodable` or `tooLarge`. Nothing is appended then.
  static func append(
    _ record: ItemRecord, behindKeyAt keyStart: Int, of table: UInt32, to bytes: inout [UInt8]
  ) throws(StoreError) {
    let start = bytes.count
    append(record.head, to: &bytes)
    do {
      try ValueFormat.append(record.value, to: &bytes)
      try validate(bytes.count - keyStart + checksumSize)
    } catch {
      bytes.removeSubrange(start...)
      guard let failure = error as? ValueFailure else {
        throw .wrapping(error, .notEncodable, at: .init())
      }
      throw StoreError(.notEncodable, failure.description)
    }
    var checksum = ItemChecksum.begin(table, keyCount: start - keyStart)
    checksum.update(bytes.span.extracting(keyStart...))
    bytes.append(littleEndian: checksum.value)
  }

  /// Throws if a key and its record have more bytes than a table can store.
  static func validate(_ count: Int, limit: Int = ChangeSet.maximumKeyByteCount) throws(StoreError)
  {
    if count <= limit { return }
    throw StoreError(
      .tooLarge,
      """
      The key and the value have \(count) bytes together, and at most \(limit) are allowed \
      (maximumKeyByteCount): divide the value among several keys.
      """)
  }

  private static func append(_ head: ItemHead, to bytes: inout [UInt8]) {
    let isUpdated = head.updatedAt != head.createdAt ? isUpdated : 0
    bytes.append(version | isUpdated | (head.expiresAt == nil ? 0 : expires))
    append(head.createdAt, to: &bytes)
    if isUpdated != 0 { append(head.updatedAt, to: &bytes) }
    if let expiresAt = head.expiresAt { append(expiresAt, to: &bytes) }
  }

  private static func append(_ date: Date, to bytes: inout [UInt8]) {
    bytes.append(littleEndian: date.timeIntervalSinceReferenceDate.bitPattern)
  }

  /// Reads the head only, without verifying the checksum; returns nil if it is invalid.
  static func head(of bytes: RawSpan) -> (head: ItemHead, byteCount: Int)? {
    guard let first = bytes.firstByte, first & ~knownFlags == version else { return nil }
    var size = 1
    func date() -> Date {
      defer { size += 8 }
      let bits = bytes.loadUInt64(at: size, isBigEndian: false)
      return Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
    }
    guard bytes.byteCount >= 1 + 8 * (1 + (first & knownFlags).nonzeroBitCount) else { return nil }
    let createdAt = date()
    let updatedAt = first & isUpdated != 0 ? date() : createdAt
    let expiresAt = first & expires != 0 ? date() : nil
    return (ItemHead(createdAt: createdAt, updatedAt: updatedAt, expiresAt: expiresAt), size)
  }
}
