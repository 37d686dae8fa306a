internal import Files

/// The part of a file with records, which locates the parts of a record.
///
/// It contains no references, so that the copies that look-ups make cost nothing.
struct CDBRecordArea: Sendable {
  let format: CDBFormat
  /// The end of the records: the beginning of the first table that has slots.
  let dataEnd: Int

  /// The position of a record and the ranges of its parts.
  struct Record: Sendable {
    /// The position that slots contain.
    let position: Int
    let key: Range<Int>
    let value: Range<Int>
  }

  /// Returns the record at a position, which a slot or the end of the previous record gives.
  ///
  /// `source` is the offset at which the position was read, for the error.
  @inline(__always)
  func record(
    _ bytes: RawSpan, at position: UInt64, from source: Int
  ) throws(Fault) -> Record {
    guard position >= UInt64(format.headerSize), position <= UInt64(dataEnd),
      dataEnd - Int(position) >= format.pairSize
    else { throw Fault(kind: .position, offset: source) }
    let start = Int(position)
    let (keyCount, valueCount) = CDBLayout.pair(bytes, at: start, format)
    let rest = UInt64(dataEnd - start - format.pairSize)
    guard keyCount <= rest, valueCount <= rest - keyCount else {
      throw Fault(kind: .length, offset: start)
    }
    let key = start + format.pairSize
    let value = key + Int(keyCount)
    return Record(position: start, key: key..<value, value: value..<value + Int(valueCount))
  }

  /// A problem and its offset; small, because every look-up may return it.
  struct Fault: Error {
    enum Kind { case position, length }

    let kind: Kind
    let offset: Int

    func error(_ path: String) -> CDBError {
      let message =
        switch kind {
        case .position: "The position here is not that of a record."
        case .length: "The record here is longer than what is left for records."
        }
      return .damaged(path, at: offset, message)
    }
  }
}
