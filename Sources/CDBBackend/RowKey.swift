import Files
import StoreEngine

/// Keys of a class file: the row ID, and behind it the same once more, scrambled.
///
///     row 2:  02 00 00 00  62 F3 6E 3C
///
/// Each half is 4 bytes, the least significant first; the second is the row ID times 2654435761,
/// without regard to overflow. The hash of the format makes few different numbers of 4 bytes that
/// count up: of 10,000,000 rows 36 would share each hash, and a look-up try 1,657 slots. With the
/// second half it tries 1.5.
enum RowKey: RowKeys {
  private static let factor: UInt32 = 2_654_435_761

  /// Lends the key of a row.
  @inline(__always)
  static func lend<Result, Failure: Error>(
    _ rowID: UInt32, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try (UInt64(rowID &* factor) << 32 | UInt64(rowID)).lendLittleEndian(body)
  }

  /// The row that a key stands for; nil when the bytes are no key of a row.
  static func rowID(_ key: RawSpan) -> UInt32? {
    guard key.byteCount == 8 else { return nil }
    let rowID = key.loadUInt32(at: 0, isBigEndian: false)
    return key.loadUInt32(at: 4, isBigEndian: false) == rowID &* factor ? rowID : nil
  }
}
