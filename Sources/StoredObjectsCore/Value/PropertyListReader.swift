import FoundationEssentials

/// Reads the binary property lists that earlier versions wrote `Codable` values as.
///
/// The format: "bplist00", objects, a table of their offsets, and a trailer of 32 bytes. Numbers are
/// big-endian. Containers hold their elements by number, so a damaged list can hold itself, or be
/// short and unfold without end: depth and size are bounded. nil is the text "$null".
struct PropertyListReader {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let offsetTable: Int
  /// How many more references may be followed; each takes up a byte of the list at least.
  private var budget: Int
  /// The texts and data read so far: several references share one.
  private var leaves: [Int: StoredValue] = [:]

  /// Whether bytes are such a list, and not a value in ``ValueFormat``.
  static func isList(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: "bplist".utf8)
  }

  /// The only value of the array at the top.
  ///
  /// - Throws: ``ValueFailure`` for bytes that are no such list.
  static func value(in bytes: [UInt8]) throws -> StoredValue {
    let start = bytes.count - 32
    guard bytes.starts(with: "bplist00".utf8), start >= 8,
      let count = integer(bytes, start + 8, 8), let top = integer(bytes, start + 16, 8),
      let table = integer(bytes, start + 24, 8), count <= bytes.count, table <= bytes.count
    else { throw damage }
    var reader = PropertyListReader(bytes, count, table)
    guard case .array(let values) = try reader.object(top, depth: -1) else { throw damage }
    guard let value = values.first, values.count == 1 else {
      throw ValueFailure("The property list holds no single value.")
    }
    return value
  }

  private init(_ bytes: [UInt8], _ objectCount: Int, _ offsetTable: Int) {
    (self.bytes, self.objectCount, self.offsetTable) = (bytes, objectCount, offsetTable)
    (offsetSize, referenceSize) = (Int(bytes[bytes.count - 26]), Int(bytes[bytes.count - 25]))
    budget = 8 * bytes.count
  }

  private static let damage = ValueFailure("It is no binary property list, or a damaged one.")

  private mutating func object(_ number: Int, depth: Int) throws -> StoredValue {
    if let leaf = leaves[number] { return leaf }
    guard depth <= ValueFormat.maximumDepth, number < objectCount,
      let offset = Self.integer(bytes, offsetTable + number * offsetSize, offsetSize),
      offset < bytes.count
    else { throw Self.damage }
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
    // Sixteen bytes hold what eight would take for a negative number.
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

  /// The objects behind the references of a container.
  private mutating func elements(
    _ offset: Int, _ parts: Int, depth: Int
  ) throws -> [StoredValue] {
    let (count, first) = try self.count(offset)
    guard parts * count <= budget else { throw Self.damage }
    budget -= parts * count
    return try (0..<parts * count).map { index in
      guard let number = Self.integer(bytes, first + index * referenceSize, referenceSize) else {
        throw Self.damage
      }
      return try object(number, depth: depth + 1)
    }
  }

  /// All keys of a dictionary come before all values.
  private mutating func fields(_ offset: Int, depth: Int) throws -> StoredValue.Fields {
    let objects = try elements(offset, 2, depth: depth)
    let count = objects.count / 2
    return StoredValue.Fields(
      try (0..<count).map { index in
        guard case .string(let name) = objects[index] else { throw Self.damage }
        return (name, objects[count + index])
      })
  }

  /// The count of bytes, letters or elements, and where these begin.
  private func count(_ offset: Int) throws -> (count: Int, first: Int) {
    var (count, first) = (Int(bytes[offset] & 0xF), offset + 1)
    if count == 0xF {
      // The count is an integer object of its own: 0x10, 0x11, 0x12, 0x13 for 1, 2, 4, 8 bytes.
      guard first < bytes.count, bytes[first] & 0xF0 == 0x10, bytes[first] & 0xF <= 3 else {
        throw Self.damage
      }
      let size = 1 << Int(bytes[first] & 0xF)
      count = Self.integer(bytes, first + 1, size) ?? .max
      first += 1 + size
    }
    guard count <= bytes.count else { throw Self.damage }
    return (count, first)
  }

  private func bits(_ start: Int, _ size: Int) throws -> UInt64 {
    guard start <= bytes.count - size else { throw Self.damage }
    return bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func integer(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard (1...8).contains(size), start >= 0, start <= bytes.count - size else { return nil }
    return Int(exactly: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
