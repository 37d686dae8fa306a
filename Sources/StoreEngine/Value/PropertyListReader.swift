import Files
import FoundationEssentials

/// A reader of the binary property lists that earlier versions wrote for `Codable` values.
///
/// These lists represent nil as the text "$null".
struct PropertyListReader {
  private let layout: PropertyListLayout
  /// The number of references that may still be followed; each takes at least a byte of the list.
  private var budget: Int
  /// The texts and data read so far, because several references can share one.
  private var leaves: [Int: StoredValue] = [:]

  /// Whether the bytes are a property list, and not a value in ``ValueFormat``.
  static func isList(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: "bplist".utf8)
  }

  /// Returns the only value of the top-level array.
  ///
  /// - Throws: ``ValueFailure`` for bytes that are not such a list.
  static func value(in bytes: [UInt8]) throws -> StoredValue {
    guard let layout = PropertyListLayout(bytes) else { throw damage }
    var reader = PropertyListReader(layout)
    guard case .array(let values) = try reader.object(layout.top, depth: -1) else { throw damage }
    guard let value = values.first, values.count == 1 else {
      throw ValueFailure("The property list does not have exactly one value.")
    }
    return value
  }

  private init(_ layout: PropertyListLayout) {
    (self.layout, budget) = (layout, 8 * layout.bytes.count)
  }

  private var bytes: [UInt8] { layout.bytes }

  private static let damage = ValueFailure("This is not a binary property list, or it is damaged.")

  private mutating func object(_ number: Int, depth: Int) throws -> StoredValue {
    if let leaf = leaves[number] { return leaf }
    guard depth <= ValueFormat.maximumDepth, let offset = layout.offset(of: number) else {
      throw Self.damage
    }
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0xF))
    switch kind {
    case 0xA: return .array(StoredValue.Elements(try elements(offset, 1, depth: depth)))
    case 0xD: return .dictionary(try fields(offset, depth: depth))
    case 0x4, 0x5, 0x6:
      let leaf = try textOrData(kind, offset)
      leaves[number] = leaf
      return leaf
    default: return try single(kind, low, offset + 1)
    }
  }

  private func single(_ kind: UInt8, _ low: Int, _ start: Int) throws -> StoredValue {
    switch (kind, low) {
    case (0x0, 0x0): return .null
    case (0x0, 0x8): return .bool(false)
    case (0x0, 0x9): return .bool(true)
    case (0x1, 0...3): return .int(Int64(bitPattern: try bits(start, 1 << low)))
    // Sixteen bytes hold a `UInt64`: eight bytes would be read as a negative number.
    case (0x1, 4):
      let (high, low) = (try bits(start, 8), try bits(start + 8, 8))
      guard high == 0 else { throw ValueFailure("A number has more than 64 bits.") }
      return try StoredValue(low)
    case (0x2, 2):
      let number = Float(bitPattern: UInt32(truncatingIfNeeded: try bits(start, 4)))
      return .double(Double(keepingBitsOf: number))
    case (0x2, 3): return .double(Double(bitPattern: try bits(start, 8)))
    case (0x3, 3):
      let seconds = Double(bitPattern: try bits(start, 8))
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    default: throw Self.damage
    }
  }

  private func textOrData(_ kind: UInt8, _ offset: Int) throws -> StoredValue {
    let (count, first) = try self.count(offset)
    let size = kind == 0x6 ? 2 * count : count
    guard size <= bytes.count - first else { throw Self.damage }
    let content = bytes[first..<first + size]
    switch kind {
    case 0x4: return .data(Data(content))
    case 0x5: return .string(String(decoding: content, as: UTF8.self))
    default:
      let units = stride(from: first, to: first + size, by: 2).map {
        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
      }
      return .string(String(decoding: units, as: UTF16.self))
    }
  }

  /// Reads the objects that a container refers to.
  private mutating func elements(
    _ offset: Int, _ parts: Int, depth: Int
  ) throws -> [StoredValue] {
    let (count, first) = try self.count(offset)
    guard parts * count <= budget else { throw Self.damage }
    budget -= parts * count
    return try (0..<parts * count).map { index in
      guard let number = layout.reference(index, from: first) else { throw Self.damage }
      return try object(number, depth: depth + 1)
    }
  }

  /// Reads a dictionary, which lists all keys before all values.
  private mutating func fields(_ offset: Int, depth: Int) throws -> StoredValue.Fields {
    let objects = try elements(offset, 2, depth: depth)
    let count = objects.count / 2
    return StoredValue.Fields(
      try (0..<count).map { index in
        guard case .string(let name) = objects[index] else { throw Self.damage }
        return (name, objects[count + index])
      })
  }

  private func count(_ offset: Int) throws -> (count: Int, first: Int) {
    guard let count = layout.count(at: offset) else { throw Self.damage }
    return count
  }

  private func bits(_ start: Int, _ size: Int) throws -> UInt64 {
    guard start <= bytes.count - size else { throw Self.damage }
    return bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
