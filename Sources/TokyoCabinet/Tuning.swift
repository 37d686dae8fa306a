public import TokyoCabinetFile

/// The layout of a new database file.
///
/// An existing file keeps the layout with which it was created.
public struct Tuning: Sendable, Hashable {
  /// The number of buckets; the library rounds it up to a prime of its list.
  ///
  /// A bucket takes 4 bytes of the file (8 with `Options.large`). Records that share a bucket form
  /// a binary tree. The default is the library's: 131,071.
  public var bucketCount: Int64
  /// The alignment of records as a power of two, 0 to 16; the default is 4, or 16 bytes.
  ///
  /// A small alignment makes a smaller file, which may grow to 4 GiB times the alignment.
  public var alignmentPower: Int8
  /// The size of the free block pool as a power of two, 0 to 20; the default is 10.
  public var freeBlockPower: Int8
  /// 64-bit offsets and compression; by default neither.
  public var options: Options

  /// Creates a layout; the defaults are those of the library.
  public init(
    bucketCount: Int64 = 131_071, alignmentPower: Int8 = 4, freeBlockPower: Int8 = 10,
    options: Options = []
  ) {
    self.bucketCount = bucketCount
    self.alignmentPower = alignmentPower
    self.freeBlockPower = freeBlockPower
    self.options = options
  }

  /// The options of a database file, as in its header.
  public typealias Options = HashFileOptions

  /// An upper bound of the size of a file without records.
  ///
  /// The library uses the next prime of a list whose steps are up to a half.
  var initialSize: UInt64 {
    let width: UInt64 = options.contains(.large) ? 8 : 4
    let buckets = UInt64(clamping: bucketCount)
    return 4096 + (buckets + buckets / 2) * width + 4 << UInt64(max(freeBlockPower, 0))
  }

  /// Returns a bucket count for a number of records with keys of 4-byte little-endian integers.
  ///
  /// The library's hash of such keys reaches only some hundred thousand buckets, however many
  /// records there are (154,865 with a million consecutive numbers). More than 400,000 are never
  /// used, and fewer than the library's default save almost nothing.
  public static func bucketCount(forExpectedRecords count: Int) -> Int64 {
    Int64(min(max(count, 131_071), 393_209))
  }
}
