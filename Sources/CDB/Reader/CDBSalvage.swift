package import Files

/// A search for the records of a file that may be damaged.
///
/// Records to which a slot leads, and whose keys have the hash of the slot, are certain. Between
/// them, each record leads to the next. If that leads to invalid bytes, or beyond the next certain
/// record, the search continues at that record.
package struct CDBSalvage {
  /// A record that was found.
  package struct Record {
    package let key: [UInt8]
    package let value: [UInt8]
    package let offset: Int
    /// Whether a slot leads to it, or there are no slots left.
    package let isCertain: Bool
  }

  private let file: MappedFile
  private let format: CDBFormat
  /// The positions of the certain records, in order.
  private let known: [Int]
  private let dataEnd: Int
  /// The parts of the file without records, or with unexpected content.
  package private(set) var gaps: [Range<Int>] = []
  /// The number of records in slots that are not in their places.
  package let missingCount: Int

  /// Maps a file, and determines the more plausible format.
  package init(_ address: some FileAddress) throws(CDBError) {
    let file: MappedFile
    do throws(SystemError) { file = try MappedFile(address) } catch { throw CDBError(error) }
    let (classic, wide) = (Slots(file, .classic), Slots(file, .wide))
    let slots = wide.positions.count > classic.positions.count ? wide : classic
    self.file = file
    (format, known, missingCount) = (slots.format, slots.positions, slots.lostCount)
    dataEnd = slots.dataEnd
  }

  /// The size of the file.
  package var size: Int { file.count }
  /// Whether there is anything that identifies records.
  package var hasTables: Bool { !known.isEmpty || dataEnd == format.headerSize }

  /// Calls a closure with copies of the records, in the order of the file.
  package mutating func run<Failure: Error>(
    _ body: (Record) throws(Failure) -> Void
  ) throws(Failure) {
    gaps = []
    var (offset, next) = (format.headerSize, 0)
    while offset < dataEnd {
      while next < known.count, known[next] < offset { next += 1 }
      let isKnown = next < known.count && known[next] == offset
      // No record overlaps a certain one, whatever its sizes are.
      let following = isKnown ? next + 1 : next
      let limit = following < known.count ? known[following] : dataEnd
      if let end = try lend(offset, limit, isKnown || known.isEmpty, body) {
        offset = end
      } else {
        if isKnown { next += 1 }
        let resumed = next < known.count ? known[next] : dataEnd
        gaps.append(offset..<resumed)
        offset = resumed
      }
    }
  }

  /// Passes on a record that ends before a limit; returns its end, or nil if there is none.
  private func lend<Failure: Error>(
    _ offset: Int, _ limit: Int, _ isCertain: Bool, _ body: (Record) throws(Failure) -> Void
  ) throws(Failure) -> Int? {
    let found: (Record, Int)? = file.withBytes { bytes in
      guard let record = Slots.record(bytes, offset, format, limit) else { return nil }
      let (key, value) = (bytes.extracting(record.key), bytes.extracting(record.value))
      return (
        Record(
          key: [UInt8](copying: key), value: [UInt8](copying: value), offset: offset,
          isCertain: isCertain),
        record.value.upperBound
      )
    }
    guard let (record, end) = found else { return nil }
    try body(record)
    return end
  }

  /// The content of the tables of a file in one format.
  private struct Slots {
    let format: CDBFormat
    private(set) var positions: [Int] = []
    private(set) var lostCount = 0
    private(set) var dataEnd: Int

    init(_ file: MappedFile, _ format: CDBFormat) {
      self.format = format
      dataEnd = file.count
      guard file.count >= format.headerSize else { return }
      let said = file.withBytes { bytes in
        (0..<CDBFormat.tableCount).map {
          CDBLayout.pair(bytes, at: $0 * format.pairSize, format)
        }
      }
      let tables = said.compactMap { Self.table($0, format, file.count) }
      let end = file.withBytes { CDBLayout.endBeforeMark($0, format) }
      dataEnd = Self.dataEnd(said, format, end)
      for table in tables { file.withBytes { read(table, $0) } }
      positions = Set(positions).sorted()
    }

    /// Returns the range of a table in the header; nil if it has no slots, or an impossible range.
    private static func table(
      _ said: (start: UInt64, count: UInt64), _ format: CDBFormat, _ size: Int
    ) -> Range<Int>? {
      guard said.count > 0, said.start >= UInt64(format.headerSize), said.start <= UInt64(size),
        said.count <= (UInt64(size) - said.start) / UInt64(format.pairSize)
      else { return nil }
      return Int(said.start)..<Int(said.start) + Int(said.count) * format.pairSize
    }

    /// Returns the end of the records, where the tables begin.
    ///
    /// The first table begins there, and all tables together extend to the end of the file, or to
    /// the mark of a store. If the two disagree, one number is damaged; the later offset cuts off
    /// no record.
    private static func dataEnd(
      _ said: [(start: UInt64, count: UInt64)], _ format: CDBFormat, _ size: Int
    ) -> Int {
      let first = said.first { $0.count > 0 }.map { Int(clamping: $0.start) }
      let total = said.reduce(0) { sum, table in
        let (bytes, isTooLarge) = Int(clamping: table.count)
          .multipliedReportingOverflow(by: format.pairSize)
        return isTooLarge || bytes > size ? size : min(size, sum + bytes)
      }
      let offsets = [first, size - total].compactMap(\.self)
      return offsets.filter { (format.headerSize...size).contains($0) }.max() ?? size
    }

    private mutating func read(_ table: Range<Int>, _ bytes: RawSpan) {
      for offset in stride(from: table.lowerBound, to: table.upperBound, by: format.pairSize) {
        let (hash, position) = CDBLayout.pair(bytes, at: offset, format)
        if position == 0 { continue }
        if let record = Self.record(bytes, Int(clamping: position), format, dataEnd),
          CDBHash.hash(bytes.extracting(record.key), format) == hash
        {
          positions.append(record.position)
        } else {
          lostCount += 1
        }
      }
    }

    static func record(
      _ bytes: RawSpan, _ offset: Int, _ format: CDBFormat, _ limit: Int
    ) -> CDBRecordArea.Record? {
      guard offset >= format.headerSize, offset <= limit, limit - offset >= format.pairSize else {
        return nil
      }
      let (key, value) = CDBLayout.pair(bytes, at: offset, format)
      let start = offset + format.pairSize
      guard key <= UInt64(limit - start), value <= UInt64(limit - start) - key else { return nil }
      let middle = start + Int(key)
      return CDBRecordArea.Record(
        position: offset, key: start..<middle, value: middle..<middle + Int(value))
    }
  }
}
