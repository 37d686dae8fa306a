import Files
import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The places of rows in a large file whose records are mostly in the order of their rows.
///
/// The path to a record leads over its bucket and two or three records, each of which waits for
/// memory: 0.5 us in a file of a million records. Most files have their records in row order,
/// because a store writes them so. Then it is enough to know one record of each eight: the wanted
/// one is among the next. A look-up waits for memory once, and takes a third of the time.
///
/// The guide learns a part of the file when rows of that part have been looked up repeatedly, which
/// takes as long as some sixty look-ups. It takes half a byte for each row. A row that it does not
/// lead to, such as one whose record was moved, is looked up in its bucket.
///
/// The records belong to the chain of blocks, as in a scan. The file does not change while it is
/// open, so nothing that was learned becomes wrong.
///
/// `@unchecked Sendable`: its memory is allocated once, and accessed by atomic operations only. Each
/// entry is set once, to an offset in the file, which needs no order with anything else.
@safe
final class RowGuide: @unchecked Sendable {
  /// The number of rows that are learned together.
  static let partRows = 4096
  /// The number of rows that share an entry.
  static let groupRows = 8
  /// The number of look-ups of a part after which it is learned.
  private static let learnedFrom: UInt32 = 48

  private typealias Words = UnsafeMutablePointer<Atomic<UInt32>>

  /// The number of rows that have an entry.
  private let rowCount: Int
  /// For each group of rows, the offset of its first record, as in the file; 0 for none.
  private let places: Words
  /// The number of look-ups of each part.
  private let lookUps: Words

  /// Creates a guide that knows nothing yet, for a file of some records; nil without memory.
  ///
  /// Complexity: constant time; the memory is used with the first entry of each page.
  init?(recordCount: Int) {
    // Rows beyond twice the number of records are rare, and found without a guide.
    let partCount = 2 * recordCount / Self.partRows + 1
    rowCount = partCount * Self.partRows
    guard let places = unsafe calloc(rowCount / Self.groupRows, 4) else { return nil }
    guard let lookUps = unsafe calloc(partCount, 4) else {
      unsafe free(places)
      return nil
    }
    // Zeros are what an atomic integer of 0 consists of.
    unsafe self.places = places.assumingMemoryBound(to: Atomic<UInt32>.self)
    unsafe self.lookUps = lookUps.assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  deinit {
    unsafe free(places)
    unsafe free(lookUps)
  }

  /// Returns an offset shortly before the record of a row, as in the file; 0 if it is not known.
  @inline(__always)
  func place(of row: UInt32) -> UInt32 {
    guard row < rowCount else { return 0 }
    return unsafe places[Int(row) / Self.groupRows].load(ordering: .relaxed)
  }

  /// Counts a look-up of a row without the guide, and returns whether to learn its part now.
  func note(_ row: UInt32) -> Bool {
    guard row < rowCount else { return false }
    let count = unsafe lookUps[Int(row) / Self.partRows].wrappingAdd(1, ordering: .relaxed).newValue
    return count == Self.learnedFrom
  }

  /// Sets the place of a row, unless an earlier row of its group has one.
  ///
  /// Called by one thread for each part: the one for which ``note(_:)`` returned true.
  func learn(_ place: UInt32, of row: UInt32) {
    let group = Int(row) / Self.groupRows
    if unsafe places[group].load(ordering: .relaxed) != 0 { return }
    unsafe places[group].store(place, ordering: .relaxed)
  }
}

extension HashFile {
  /// The mean size of records up to which eight of them are read as fast as they are found.
  private static let guidedRecordSize = 256

  /// Creates the guide of a file.
  ///
  /// - Returns: nil for a small file, which is in the processor's cache anyway, and for one of large
  ///   records.
  static func makeGuide(_ header: HashFileHeader, _ geometry: HashFileGeometry) -> RowGuide? {
    // The header's number may be any: no more records than these fit into the file.
    let most = geometry.end / geometry.leastRecordSize
    guard header.recordCount >= 65_536, header.recordCount <= most,
      geometry.end / Int(header.recordCount) <= guidedRecordSize
    else { return nil }
    return RowGuide(recordCount: Int(header.recordCount))
  }

  /// Returns the record of a row if the guide leads to it.
  @inline(__always)
  func guided(to row: UInt32, in bytes: RawSpan) -> HashFileBlock? {
    guard let place = guide?.place(of: row), place != 0 else { return nil }
    var offset = Int(UInt64(place) << geometry.alignmentPower)
    // There may be free blocks between the records.
    for _ in 0..<2 * RowGuide.groupRows {
      guard offset < geometry.end, let block = try? geometry.block(in: bytes, at: offset) else {
        return nil
      }
      if block.isRecord {
        guard let found = rowOfKey(block, bytes), found <= row else { return nil }
        if found == row { return block }
      }
      offset = block.end
    }
    return nil
  }

  /// Counts a look-up without the guide, and learns the rows around it when that is worthwhile.
  @inline(__always)
  func noteLookUp(of row: UInt32, in bytes: RawSpan) {
    if let guide, guide.note(row) { learnRows(around: row, guide, in: bytes) }
  }

  /// Learns the places of the rows of a part, from its first record on as far as they ascend.
  ///
  /// Records of other rows in between were moved there, and are skipped.
  private func learnRows(around row: UInt32, _ guide: RowGuide, in bytes: RawSpan) {
    let first = row / UInt32(RowGuide.partRows) * UInt32(RowGuide.partRows)
    let end = UInt64(first) + UInt64(RowGuide.partRows)
    guard var offset = firstRecord(from: first, in: bytes) else { return }
    // Some records may be much larger than most, and are read from the disk.
    let last = min(geometry.end, offset + 2 * RowGuide.partRows * Self.guidedRecordSize)
    var next = first
    for _ in 0..<2 * RowGuide.partRows {
      guard next < end, offset < last, let block = try? geometry.block(in: bytes, at: offset) else {
        return
      }
      if block.isRecord, geometry.isAligned(offset), let row = rowOfKey(block, bytes),
        row >= next, row < end,
        let place = UInt32(exactly: offset >> Int(geometry.alignmentPower))
      {
        guide.learn(place, of: row)
        next = row &+ 1
      }
      offset = block.end
    }
  }

  /// Returns the offset of the first record in its place of a part that begins with a row.
  private func firstRecord(from row: UInt32, in bytes: RawSpan) -> Int? {
    for candidate in row...row + 4 * UInt32(RowGuide.groupRows) {
      if let record = try? findInTree(candidate, in: bytes), leads(record, candidate, bytes) {
        return record.offset
      }
    }
    return nil
  }

  /// Whether one of the next records is that of a row shortly after a row, so that neither was moved.
  private func leads(_ record: HashFileBlock, _ row: UInt32, _ bytes: RawSpan) -> Bool {
    var offset = record.end
    for _ in 0..<RowGuide.groupRows {
      guard offset < geometry.end, let block = try? geometry.block(in: bytes, at: offset) else {
        return false
      }
      if block.isRecord, let next = rowOfKey(block, bytes), next > row,
        next - row <= UInt32(RowGuide.groupRows)
      {
        return true
      }
      offset = block.end
    }
    return false
  }

  /// Returns the row of a record; nil if its key is none.
  @inline(__always)
  private func rowOfKey(_ block: HashFileBlock, _ bytes: RawSpan) -> UInt32? {
    block.keyCount == 4 ? bytes.loadUInt32(at: block.keyStart, isBigEndian: false) : nil
  }
}
