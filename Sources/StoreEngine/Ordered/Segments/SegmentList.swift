import Files

/// The segments of a large ordered table, as listed in the table's file.
///
///     parts    key range | key range | key range …     the table at an earlier moment
///     runs     changes of any keys, oldest first        what has been saved since
///
/// The entries of the file, whose integers are little-endian:
///
///     0                | next number (8) | keys (8) | runs being merged (4) | key
///     1 | index (4)    | number (8) | mark (12) | first key      for each part
///     2 | index (4)    | number (8) | mark (12) | growth (8)     for each run
///
/// Indices are big-endian, so that the entries are in order. While runs are merged with the parts,
/// their entries before the key count no longer: the parts contain them. <doc:OrderedFileFormat>
/// describes the segments.
struct SegmentList: Sendable, Equatable {
  /// A part of the table: the keys from its first key to that of the next part.
  struct Part: Sendable, Equatable {
    var number: UInt64
    var mark: FileMark
    /// The first key that belongs to it; empty for the first part.
    var firstKey: [UInt8]
  }

  /// A sorted run.
  struct Run: Sendable, Equatable {
    var number: UInt64
    var mark: FileMark
    /// The number of keys by which its entries make the table larger, even those that no longer count.
    var growth: Int
  }

  /// The number of the next segment.
  var nextNumber: UInt64 = 1
  /// The number of keys in the table.
  var keyCount = 0
  var parts: [Part] = []
  /// The runs, oldest first.
  var runs: [Run] = []
  /// The number of runs that are being merged with the parts, the oldest ones.
  var mergingCount = 0
  /// The first key that these have not been merged to yet.
  var mergedTo: [UInt8] = []

  /// The numbers of all segments.
  var numbers: [UInt64] { parts.map(\.number) + runs.map(\.number) }

  /// Returns the first key of a run that still counts.
  func start(ofRun index: Int) -> [UInt8] { index < mergingCount ? mergedTo : [] }

  /// Returns the range of a part's keys.
  func range(ofPart index: Int) -> KeyRange {
    KeyRange(
      from: index == 0 ? [] : parts[index].firstKey,
      to: index + 1 < parts.count ? parts[index + 1].firstKey : nil)
  }

  // MARK: The file

  /// Writes the entries.
  func write(to writer: inout OrderedFileWriter) throws(StoreError) {
    var head = DataBuffer()
    head.write(nextNumber)
    head.write(UInt64(keyCount))
    head.write(UInt32(mergingCount))
    head.append(mergedTo)
    try write([0], head, to: &writer)
    for (index, part) in parts.enumerated() {
      var value = Self.value(part.number, part.mark)
      value.append(part.firstKey)
      try write(Self.key(1, index), value, to: &writer)
    }
    for (index, run) in runs.enumerated() {
      var value = Self.value(run.number, run.mark)
      value.write(UInt64(bitPattern: Int64(run.growth)))
      try write(Self.key(2, index), value, to: &writer)
    }
  }

  private func write(
    _ key: [UInt8], _ value: DataBuffer, to writer: inout OrderedFileWriter
  ) throws(StoreError) {
    try key.lend { (key) throws(StoreError) in
      try value.bytes.lend { (value) throws(StoreError) in try writer.append(key, value) }
    }
  }

  private static func key(_ kind: UInt8, _ index: Int) -> [UInt8] {
    var key = [kind]
    key.append(littleEndian: UInt32(index).byteSwapped)
    return key
  }

  private static func value(_ number: UInt64, _ mark: FileMark) -> DataBuffer {
    var value = DataBuffer()
    value.write(number)
    value.append(mark.bytes)
    return value
  }

  /// Reads the list in a file.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  init(_ file: OrderedFile) throws(StoreError) {
    var isValid = true
    _ = try file.scan(KeyRange(), isReversed: false) { (key, value) throws(StoreError) in
      let entry = DataBuffer([UInt8](copying: value))
      let isRead = (try? read([UInt8](copying: key), entry)) ?? false
      isValid = isValid && isRead
      return .next
    }
    guard isValid, nextNumber > (numbers.max() ?? 0), mergingCount <= runs.count,
      Set(numbers).count == numbers.count, areInOrder
    else { throw file.damage("The list of its segments is not valid", at: 0) }
  }

  private mutating func read(
    _ key: [UInt8], _ entry: DataBuffer
  ) throws(DataBufferError) -> Bool {
    var entry = entry
    if key == [0] {
      nextNumber = try entry.readUInt64()
      keyCount = Int(clamping: try entry.readUInt64())
      mergingCount = Int(try entry.readUInt32())
      mergedTo = Array(entry.bytes[entry.offset...])
      return true
    }
    let number = try entry.readUInt64()
    let markEnd = entry.offset + FileMark.byteCount
    guard markEnd <= entry.bytes.count, let mark = FileMark(entry.bytes[entry.offset..<markEnd])
    else { return false }
    try entry.skip(FileMark.byteCount)
    if key == Self.key(1, parts.count) {
      parts.append(Part(number: number, mark: mark, firstKey: Array(entry.bytes[markEnd...])))
      return true
    }
    let growth = Int(Int64(bitPattern: try entry.readUInt64()))
    guard key == Self.key(2, runs.count), entry.remainingCount == 0 else { return false }
    runs.append(Run(number: number, mark: mark, growth: growth))
    return true
  }

  /// Whether the parts follow each other.
  private var areInOrder: Bool {
    (parts.first?.firstKey ?? []).isEmpty
      && zip(parts, parts.dropFirst()).allSatisfy {
        $0.firstKey.lexicographicallyPrecedes($1.firstKey)
      }
  }

  /// Creates an empty list, whose segments get numbers from the given one on.
  init(nextNumber: UInt64) { self.nextNumber = nextNumber }
}

/// The names of the files of segments.
///
///     Songs.ordered.12.keys       a part
///     Songs.ordered.13.changes    a sorted run
enum SegmentName {
  /// The kind of a segment, which its file also names.
  enum Kind: String, CaseIterable { case keys, changes }

  static func fileName(_ kind: Kind, _ number: UInt64, of table: String) -> String {
    "\(table).\(number).\(kind.rawValue)"
  }

  /// Returns the table, the number and the kind in a file name; nil for other files.
  static func parse(_ name: String) -> (table: String, number: UInt64, kind: Kind)? {
    // Most names are others.
    guard let kind = Kind.allCases.first(where: { name.hasSuffix(".\($0.rawValue)") }) else {
      return nil
    }
    let rest = name.dropLast(kind.rawValue.count + 1)
    guard let dot = rest.utf8.lastIndex(of: UInt8(ascii: ".")),
      let number = UInt64(rest[rest.utf8.index(after: dot)...]), number > 0
    else { return nil }
    let table = String(rest[..<dot])
    guard OrderedTableName(fileName: table) != nil,
      fileName(kind, number, of: table).utf8.elementsEqual(name.utf8)
    else { return nil }
    return (table, number, kind)
  }

  static func isSegment(_ name: String) -> Bool { parse(name) != nil }
}
