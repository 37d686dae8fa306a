import Files
import FoundationEssentials

/// A reader of values in borrowed bytes, which checks all of them.
package struct ValueReader {
  /// The offset of the next byte.
  private var offset: Int

  /// Reads the value that takes up all of the bytes.
  package static func value(in bytes: RawSpan) throws -> StoredValue {
    var reader = ValueReader(offset: 0)
    let value = try reader.read(bytes, depth: 0)
    guard reader.offset == bytes.byteCount else { throw ValueFormat.Damage(offset: reader.offset) }
    return value
  }

  /// Returns the range of the bytes of data or of a valid string; nil for a value of another kind.
  ///
  /// The value takes up all of the bytes.
  package static func rangeOfBytes(in value: RawSpan) throws -> Range<Int>? {
    let tag = value.firstByte.flatMap(ValueFormat.Tag.init(rawValue:))
    guard tag == .data || tag == .string else { return nil }
    var reader = ValueReader(offset: 1)
    let range = try reader.take(try reader.readCount(value), value)
    guard reader.offset == value.byteCount else { throw ValueFormat.Damage(offset: reader.offset) }
    if tag == .string { _ = try UTF8Span(validating: Span<UInt8>(_bytes: value.extracting(range))) }
    return range
  }

  private mutating func read(_ bytes: RawSpan, depth: Int) throws -> StoredValue {
    guard depth <= ValueFormat.maximumDepth, offset < bytes.byteCount,
      let tag = ValueFormat.Tag(rawValue: bytes.loadByte(at: offset))
    else { throw ValueFormat.Damage(offset: offset) }
    offset += 1
    switch tag {
    case .null: return .null
    case .no: return .bool(false)
    case .yes: return .bool(true)
    case .int:
      let number = try readVarint(bytes)
      return .int(Int64(bitPattern: number >> 1) ^ -Int64(number & 1))
    case .unsigned: return .unsigned(try readVarint(bytes))
    case .double: return .double(try readDouble(bytes))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: try readDouble(bytes)))
    case .string: return .string(try readString(bytes))
    case .data:
      let range = try take(try readCount(bytes), bytes)
      return .data(Data(copying: bytes.extracting(range)))
    case .array:
      let count = try readCount(bytes)
      var elements: [StoredValue] = []
      elements.reserveCapacity(min(count, 1024))
      for _ in 0..<count { elements.append(try read(bytes, depth: depth + 1)) }
      return .array(StoredValue.Elements(elements))
    case .dictionary: return .dictionary(try readFields(bytes, depth: depth))
    }
  }

  /// Reads fields, and checks that their names are in order, as they are always written.
  private mutating func readFields(
    _ bytes: RawSpan, depth: Int
  ) throws -> StoredValue.Fields {
    let count = try readCount(bytes)
    var (names, values): ([String], [StoredValue]) = ([], [])
    names.reserveCapacity(min(count, 1024))
    values.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      let start = offset
      let name = try readString(bytes)
      if let last = names.last, last.utf8Order(name) >= 0 {
        throw ValueFormat.Damage(offset: start)
      }
      names.append(name)
      values.append(try read(bytes, depth: depth + 1))
    }
    return StoredValue.Fields(names: names, values: values)
  }

  private mutating func take(_ count: Int, _ bytes: RawSpan) throws -> Range<Int> {
    guard count <= bytes.byteCount - offset else { throw ValueFormat.Damage(offset: offset) }
    defer { offset += count }
    return offset..<offset + count
  }

  private mutating func readDouble(_ bytes: RawSpan) throws -> Double {
    let range = try take(8, bytes)
    return Double(bitPattern: bytes.loadUInt64(at: range.lowerBound, isBigEndian: false))
  }

  private mutating func readString(_ bytes: RawSpan) throws -> String {
    let start = offset
    let range = try take(try readCount(bytes), bytes)
    guard let string = String(checking: bytes.extracting(range)) else {
      throw ValueFormat.Damage(offset: start)
    }
    return string
  }

  /// Reads a count of items that take at least a byte each.
  private mutating func readCount(_ bytes: RawSpan) throws -> Int {
    let start = offset
    guard let count = Int(exactly: try readVarint(bytes)), count <= bytes.byteCount - offset else {
      throw ValueFormat.Damage(offset: start)
    }
    return count
  }

  private mutating func readVarint(_ bytes: RawSpan) throws -> UInt64 {
    var (number, shift) = (UInt64(0), UInt64(0))
    while true {
      guard offset < bytes.byteCount, shift < 64 else { throw ValueFormat.Damage(offset: offset) }
      let byte = UInt64(bytes.loadByte(at: offset))
      guard shift < 63 || byte <= 1 else { throw ValueFormat.Damage(offset: offset) }
      offset += 1
      number |= (byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }
}

extension String {
  /// Creates a string from UTF-8 bytes; nil if they are not valid.
  package init?(checking bytes: RawSpan) {
    guard let text = try? UTF8Span(validating: Span<UInt8>(_bytes: bytes)) else { return nil }
    self.init(copying: text)
  }
}
