/// The locations of the objects in a binary property list.
///
/// The format is "bplist00", the objects, a table of their offsets, and a trailer of 32 bytes.
/// Integers are big-endian. Containers refer to their elements by number. So a damaged list can
/// contain itself, or be short and expand without limit: a reader must bound depth and size.
package struct PropertyListLayout: Sendable {
  package let bytes: [UInt8]
  /// The number of the top-level object.
  package let top: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let offsetTable: Int

  /// Reads the trailer; nil if it is not valid.
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

  /// Returns the offset of an object; nil if there is no such object.
  package func offset(of object: Int) -> Int? {
    guard object < objectCount,
      let offset = integer(at: offsetTable + object * offsetSize, size: offsetSize),
      offset < bytes.count
    else { return nil }
    return offset
  }

  /// Returns the number of bytes, characters, elements or pairs of an object, and their offset.
  ///
  /// The result is nil if the list is too short for the number.
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

  /// Returns the number of an element, given the offset of the first reference.
  package func reference(_ index: Int, from first: Int) -> Int? {
    integer(at: first + index * referenceSize, size: referenceSize)
  }

  private func integer(at start: Int, size: Int) -> Int? { Self.integer(bytes, start, size) }

  private static func integer(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard (1...8).contains(size), start >= 0, start <= bytes.count - size else { return nil }
    return Int(exactly: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
