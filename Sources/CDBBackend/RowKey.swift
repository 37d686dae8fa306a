import Files
import StoreEngine

/// The keys of a class file: the row ID, followed by a scrambled copy.
///
///     row 2:  02 00 00 00  62 F3 6E 3C
///
/// Each half has 4 bytes, least significant first; the second half is the row ID times 2654435761,
/// ignoring overflow. The hash of the format has few different values for consecutive numbers of 4
/// bytes: of 10,000,000 rows 36 would share each hash, and a look-up would try 1,657 slots. With
/// the second half it tries 1.5.
enum RowKey: RowKeys {
  private static let factor: UInt32 = 2_654_435_761

  /// Calls a closure with the key of a row.
  @inline(__always)
  static func lend<Result, Failure: Error>(
    _ rowID: UInt32, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try (UInt64(rowID &* factor) << 32 | UInt64(rowID)).lendLittleEndian(body)
  }

  /// Returns the row of a key; nil if the bytes are not the key of a row.
  static func rowID(_ key: RawSpan) -> UInt32? {
    guard key.byteCount == 8 else { return nil }
    let rowID = key.loadUInt32(at: 0, isBigEndian: false)
    return key.loadUInt32(at: 4, isBigEndian: false) == rowID &* factor ? rowID : nil
  }
}
