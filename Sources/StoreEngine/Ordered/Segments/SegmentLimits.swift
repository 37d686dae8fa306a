/// The sizes from which an ordered table is stored in segments, and of these.
public struct SegmentLimits: Sendable {
  /// The size of a table's file from which the next fold divides it; 256 MiB.
  ///
  /// Below it, a fold writes a new file. Segments of less than a quarter of it become one file again.
  public var tableBytes = 256 << 20
  /// The size of a part, 64 MiB.
  public var partBytes = 64 << 20
  /// The number of changes in the log from which they become a run, in bytes; 64 MiB.
  public var runBytes = 64 << 20
  /// The number of runs of about one size that are merged into a larger run; 8.
  public var fan = 8
  /// The number of bytes of parts that a fold merges, for each byte of a new run; 4.
  ///
  /// New runs reach half of the parts again after the parts have been merged, which takes two bytes
  /// for each new one.
  public var mergedPerByte = 4

  /// The part of the table that its runs reach before they are merged with its parts: half of it.
  static let runPart = 2

  /// Creates the standard sizes.
  public init() {}
}
