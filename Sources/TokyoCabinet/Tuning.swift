public import TokyoCabinetFile

/// How a new database file is laid out.
///
/// An existing file keeps the layout it was made with.
public struct Tuning: Sendable, Hashable {
  /// The number of buckets; the library rounds it up to a prime of its list.
  ///
  /// A bucket takes 4 bytes of the file (8 with `Options.large`). Records that share a bucket form
  /// a binary tree. The default is the library's: 131,071.
  public var bucketCount: Int64
  /// Records start at multiples of two to this power, 0 to 16; the default is 4, 16 bytes.
  ///
  /// A small alignment makes a smaller file, which may grow to 4 GiB times the alignment.
  public var alignmentPower: Int8
  /// The free block pool has two to this power entries, 0 to 20; the default is 10.
  public var freeBlockPower: Int8
  /// 64-bit offsets and compression; by default neither.
  public var options: Options

  /// Describes a layout; what is left out is the library's default.
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

  /// At most so many bytes of a file without records.
  ///
  /// The library takes the next prime of a list whose steps are up to a half.
  var initialSize: UInt64 {
    let width: UInt64 = options.contains(.large) ? 8 : 4
    let buckets = UInt64(clamping: bucketCount)
    return 4096 + (buckets + buckets / 2) * width + 4 << UInt64(max(freeBlockPower, 0))
  }

  /// A bucket count that suits a number of records whose keys are 4-byte little-endian integers.
  ///
  /// The library's hash of such keys reaches only some hundred thousand buckets, however many
  /// records there are (154,865 with a million consecutive numbers): more than 400,000 are never
  /// used, and fewer than the library's default save nothing worth having.
  public static func bucketCount(forExpectedRecords count: Int) -> Int64 {
    Int64(min(max(count, 131_071), 393_209))
  }
}
