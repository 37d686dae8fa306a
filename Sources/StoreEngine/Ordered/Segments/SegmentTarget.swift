import Files

/// The files of new segments, and what is the same for all of them.
struct SegmentTarget {
  let files: OrderedFiles
  let mark: FileMark
  let isSynced: Bool
  let limits: SegmentLimits

  func path(of table: OrderedTableName) -> String { files.directory.path(table.fileName) }

  /// Creates the file of a segment.
  func begin(
    _ kind: SegmentName.Kind, _ number: UInt64, of table: OrderedTableName
  ) throws(StoreError) -> OrderedFileWriter {
    let name = SegmentName.fileName(kind, number, of: table.fileName)
    let sink = try NewOrderedFile(name, in: files.directory, replacing: table.fileName)
    return OrderedFileWriter(
      sink, codec: files.pageCodec(ofFile: name), mark: mark,
      content: kind == .keys ? .keys : .run)
  }

  /// Opens a segment that has been written.
  func open(
    _ kind: SegmentName.Kind, _ number: UInt64, of table: OrderedTableName
  ) throws(StoreError) -> OrderedFile {
    try files.openSegment(SegmentName.fileName(kind, number, of: table.fileName))
  }

  func remove(_ kind: SegmentName.Kind, _ number: UInt64, of table: OrderedTableName) {
    files.directory.remove(SegmentName.fileName(kind, number, of: table.fileName))
  }
}

/// A writer of parts, one after the other.
struct PartWriter {
  private let target: SegmentTarget
  private let table: OrderedTableName
  private(set) var nextNumber: UInt64
  /// The parts, with their files.
  private(set) var parts: [(part: SegmentList.Part, file: OrderedFile)] = []
  private var writer: OrderedFileWriter?
  private var present = SegmentList.Part(number: 0, mark: .unreadable, firstKey: [])

  init(_ target: SegmentTarget, _ table: OrderedTableName, from nextNumber: UInt64) {
    (self.target, self.table, self.nextNumber) = (target, table, nextNumber)
  }

  /// Adds a part that exists.
  mutating func keep(_ part: SegmentList.Part, _ file: OrderedFile) { parts.append((part, file)) }

  /// Appends the keys of a range.
  mutating func append(_ view: OrderedView, in range: KeyRange) throws(StoreError) {
    var start: [UInt8]? = range.from
    _ = try view.scan(range) { (key, value) throws(StoreError) in
      try append(key, value, startingAt: start)
      start = nil
      return .next
    }
  }

  /// Appends a key, which must be greater than all before it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value.
  ///   - start: The first key that belongs to the part if it is a new one; by default this key.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  mutating func append(
    _ key: RawSpan, _ value: RawSpan, startingAt start: [UInt8]? = nil
  ) throws(StoreError) {
    if writer == nil {
      present = .init(
        number: nextNumber, mark: target.mark, firstKey: start ?? [UInt8](copying: key))
      writer = try target.begin(.keys, nextNumber, of: table)
      nextNumber += 1
    }
    try writer?.append(key, value)
    if (writer?.byteCount ?? 0) >= target.limits.partBytes { try endPart() }
  }

  /// Ends the part that is being written, if there is one.
  mutating func endPart() throws(StoreError) {
    guard var writer else { return }
    self.writer = nil
    try writer.finish(isSynced: target.isSynced)
    parts.append((present, try target.open(.keys, present.number, of: table)))
  }
}
