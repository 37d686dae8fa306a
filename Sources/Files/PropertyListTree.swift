/// Looks through a binary property list before Foundation decodes it.
///
/// Its containers hold their elements by number, so a damaged list can hold itself, or be short and
/// unfold without end. The decoder follows such references until the stack is used up, and memory
/// with it. This looks at the containers only: every list that passes unfolds to a tree of bounded
/// depth and size. All else is for the decoder, which throws.
///
/// The format: "bplist00", objects, a table of their offsets, and a trailer of 32 bytes. Integers
/// are big-endian.
package struct PropertyListTree {
  private static let deepest = 256
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let top: Int
  private let offsetTable: Int
  /// How many more references may be followed; each takes up a byte of the list at least.
  private var budget: Int

  /// Reads the trailer; nil when it makes no sense.
  package init?(_ bytes: [UInt8]) {
    let start = bytes.count - 32
    guard bytes.starts(with: "bplist00".utf8), start >= 8 else { return nil }
    self.bytes = bytes
    budget = 8 * bytes.count
    offsetSize = Int(bytes[start + 6])
    referenceSize = Int(bytes[start + 7])
    guard let count = Self.integer(bytes, start + 8, 8),
      let top = Self.integer(bytes, start + 16, 8),
      let table = Self.integer(bytes, start + 24, 8),
      count <= bytes.count, table <= bytes.count
    else { return nil }
    (objectCount, self.top, offsetTable) = (count, top, table)
  }

  /// Whether the list is a tree that the decoder can take.
  package mutating func isBounded() -> Bool { isBounded(top, depth: 0) }

  private mutating func isBounded(_ object: Int, depth: Int) -> Bool {
    guard depth <= Self.deepest, object < objectCount,
      let offset = Self.integer(bytes, offsetTable + object * offsetSize, offsetSize),
      offset < bytes.count
    else { return false }
    guard let (first, count) = elements(at: offset) else { return true }
    guard count <= budget else { return false }
    budget -= count
    for index in 0..<count {
      guard let element = Self.integer(bytes, first + index * referenceSize, referenceSize),
        isBounded(element, depth: depth + 1)
      else { return false }
    }
    return true
  }

  /// Where the references of a container begin, and how many there are; nil for anything else.
  private func elements(at offset: Int) -> (first: Int, count: Int)? {
    let kind = bytes[offset] >> 4
    guard (0xA...0xD).contains(kind) else { return nil }
    var (count, first) = (Int(bytes[offset] & 0xF), offset + 1)
    if count == 0xF {
      // The count is an integer object of its own: 0x10, 0x11, 0x12, 0x13 for 1, 2, 4, 8 bytes.
      guard first < bytes.count, bytes[first] & 0xF0 == 0x10, bytes[first] & 0xF <= 3 else {
        return (first, .max)
      }
      let size = 1 << Int(bytes[first] & 0xF)
      count = Self.integer(bytes, first + 1, size) ?? .max
      first += 1 + size
    }
    guard count <= bytes.count else { return (first, .max) }
    return (first, kind == 0xD ? 2 * count : count)
  }

  private static func integer(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard (1...8).contains(size), start >= 0, start <= bytes.count - size else { return nil }
    var value: UInt64 = 0
    for index in start..<start + size { value = value << 8 | UInt64(bytes[index]) }
    return Int(exactly: value)
  }
}
