internal import Files

/// What the header of a file says, checked, and how to find a record by it.
///
/// The header is copied when it is checked, so that nobody can change it afterwards. Every other
/// position and length is compared with the size of the file when it is followed.
struct CDBLayout: Sendable {
  /// Where records may be.
  let area: CDBRecordArea
  /// How many slots all tables have.
  let slotCount: Int
  /// The tables, all of which lie inside the file.
  let tables: [Table]

  var format: CDBFormat { area.format }
  var dataEnd: Int { area.dataEnd }

  struct Table: Sendable {
    var start = 0
    var slots = 0
  }

  /// Checks the header.
  init(_ bytes: RawSpan, _ path: String, _ format: CDBFormat) throws(CDBError) {
    let size = bytes.byteCount
    guard size >= format.headerSize else {
      throw .damaged(
        path, at: size, "The file ends inside its header of \(format.headerSize) bytes.")
    }
    var (dataEnd, slotCount) = (size, 0)
    var tables = [Table](repeating: Table(), count: CDBFormat.tableCount)
    for table in 0..<CDBFormat.tableCount {
      let offset = table * format.pairSize
      let (start, slots) = Self.pair(bytes, at: offset, format)
      if slots == 0 { continue }
      guard start >= UInt64(format.headerSize), start <= UInt64(size),
        slots <= UInt64(size - Int(start)) / UInt64(format.pairSize)
      else {
        throw .damaged(
          path, at: offset,
          "Table \(table) lies outside of the file: it was cut, or is no \(format) database.")
      }
      dataEnd = min(dataEnd, Int(start))
      slotCount += Int(slots)
      tables[table] = Table(start: Int(start), slots: Int(slots))
    }
    self.tables = tables
    area = CDBRecordArea(
      format: format, dataEnd: slotCount == 0 ? format.headerSize : dataEnd)
    self.slotCount = slotCount
    if slotCount == 0, size != format.headerSize, !Self.hasOnlyTrailer(bytes, format) {
      throw Self.noTables(path, format)
    }
  }

  /// Whether a file without tables has the mark of a store behind its header, and nothing else.
  static func hasOnlyTrailer(_ bytes: RawSpan, _ format: CDBFormat) -> Bool {
    bytes.byteCount > format.headerSize && endBeforeMark(bytes, format) == format.headerSize
  }

  /// The end of the tables: that of the file, or where the mark of a store begins.
  static func endBeforeMark(_ bytes: RawSpan, _ format: CDBFormat) -> Int {
    let start = bytes.byteCount - CDBFormat.storeMarkSize
    guard start >= format.headerSize else { return bytes.byteCount }
    let mark = [UInt8](copying: bytes.extracting(start..<bytes.byteCount))
    return mark.starts(with: CDBFormat.storeMark) ? start : bytes.byteCount
  }

  /// The header of a wide file says to a classic reader that all tables are empty.
  private static func noTables(_ path: String, _ format: CDBFormat) -> CDBError {
    let other: CDBFormat = format == .wide ? .classic : .wide
    return CDBError(
      .otherFormat, path: path,
      message: "Something follows the header, and no table leads there. Open it as .\(other).",
      offset: format.headerSize)
  }

  // MARK: Numbers

  @inline(__always)
  static func pair(_ bytes: RawSpan, at offset: Int, _ format: CDBFormat) -> (UInt64, UInt64) {
    if format == .wide {
      return (
        bytes.loadUInt64(at: offset, isBigEndian: false),
        bytes.loadUInt64(at: offset + 8, isBigEndian: false)
      )
    }
    let both = bytes.loadUInt64(at: offset, isBigEndian: false)
    return (both & 0xFFFF_FFFF, both >> 32)
  }
}
