internal import Files

/// The part of a file that has records, and how to find one's parts.
///
/// It holds no references, so that the copies which look-ups make cost nothing.
struct CDBRecordArea: Sendable {
  let format: CDBFormat
  /// Where the records end: at the first table that has slots.
  let dataEnd: Int

  /// Where a record has its parts.
  struct Record: Sendable {
    /// The position that slots give.
    let position: Int
    let key: Range<Int>
    let value: Range<Int>
  }

  /// The record at a position, which a slot or the end of the record before it says.
  ///
  /// The source is where the position was read, for the error.
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

  /// What is wrong, and where; small, for it is on the way of every look-up.
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
