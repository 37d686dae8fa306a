/// Where the objects of a binary property list are.
///
/// The format: "bplist00", objects, a table of their offsets, and a trailer of 32 bytes. Integers
/// are big-endian. Containers hold their elements by number, so a damaged list can hold itself, or
/// be short and unfold without end: a reader bounds depth and size.
package struct PropertyListLayout: Sendable {
  package let bytes: [UInt8]
  /// The number of the object that holds all others.
  package let top: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let offsetTable: Int

  /// Reads the trailer; nil when it makes no sense.
  package init?(_ bytes: [UInt8]) {
    let start = bytes.count - 32
    guard bytes.starts(with: "bplist00".utf8), start >= 8,
      let count = Self.integer(bytes, start + 8, 8),
      let top = Self.integer(bytes, start + 16, 8),
      let table = Self.integer(bytes, start + 24, 8),
      count <= bytes.count, table <= bytes.count
    else { return nil }
    (self.bytes, self.top, objectCount, offsetTable) = (bytes, top, count, table)
    (offsetSize, referenceSize) = (Int(bytes[start + 6]), Int(bytes[start + 7]))
  }

  /// Where an object begins; nil when the list has none of this number.
  package func offset(of object: Int) -> Int? {
    guard object < objectCount,
      let offset = integer(at: offsetTable + object * offsetSize, size: offsetSize),
      offset < bytes.count
    else { return nil }
    return offset
  }

  /// How many bytes, letters, elements or pairs an object has, and where they begin.
  ///
  /// nil when the list is too short for so many.
  package func count(at offset: Int) -> (count: Int, first: Int)? {
    var (count, first) = (Int(bytes[offset] & 0xF), offset + 1)
    if count == 0xF {
      // The count is an integer object of its own: 0x10, 0x11, 0x12, 0x13 for 1, 2, 4, 8 bytes.
      guard first < bytes.count, bytes[first] & 0xF0 == 0x10, bytes[first] & 0xF <= 3 else {
        return nil
      }
      let size = 1 << Int(bytes[first] & 0xF)
      guard let long = integer(at: first + 1, size: size) else { return nil }
      (count, first) = (long, first + 1 + size)
    }
    return count <= bytes.count ? (count, first) : nil
  }

  /// The number of an element, whose references begin at an offset.
  package func reference(_ index: Int, from first: Int) -> Int? {
    integer(at: first + index * referenceSize, size: referenceSize)
  }

  private func integer(at start: Int, size: Int) -> Int? { Self.integer(bytes, start, size) }

  private static func integer(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard (1...8).contains(size), start >= 0, start <= bytes.count - size else { return nil }
    return Int(exactly: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
