internal import Files

/// The verified header of a file, and access to records with it.
///
/// The header is copied when it is verified, so that later changes have no effect. Every other
/// position and size is compared with the size of the file when it is used.
struct CDBLayout: Sendable {
  /// The part of the file with records.
  let area: CDBRecordArea
  /// The number of slots in all tables.
  let slotCount: Int
  /// The tables, all of which are inside of the file.
  let tables: [Table]

  var format: CDBFormat { area.format }
  var dataEnd: Int { area.dataEnd }

  struct Table: Sendable {
    var start = 0
    var slots = 0
  }

  /// Verifies the header.
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
          """
          Table \(table) lies outside of the file: it was cut off, or it is not a \(format) \
          database.
          """)
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

  /// Whether a file without tables has only the mark of a store after its header.
  static func hasOnlyTrailer(_ bytes: RawSpan, _ format: CDBFormat) -> Bool {
    bytes.byteCount > format.headerSize && endBeforeMark(bytes, format) == format.headerSize
  }

  /// Returns the end of the tables: the end of the file, or the beginning of a store's mark.
  static func endBeforeMark(_ bytes: RawSpan, _ format: CDBFormat) -> Int {
    let start = bytes.byteCount - CDBFormat.storeMarkSize
    guard start >= format.headerSize else { return bytes.byteCount }
    let mark = [UInt8](copying: bytes.extracting(start..<bytes.byteCount))
    return mark.starts(with: CDBFormat.storeMark) ? start : bytes.byteCount
  }

  /// Returns the error for a file of the other format.
  ///
  /// In a classic reader, all tables of a wide file seem to be empty.
  private static func noTables(_ path: String, _ format: CDBFormat) -> CDBError {
    let other: CDBFormat = format == .wide ? .classic : .wide
    return CDBError(
      .otherFormat, path: path,
      message: "No table leads to the bytes after the header. Open the file as .\(other).",
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
