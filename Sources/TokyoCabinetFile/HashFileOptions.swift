/// The options of a hash database file, as in its header.
public struct HashFileOptions: OptionSet, Sendable, Hashable {
  /// The byte at offset 36 of the header.
  public let rawValue: UInt8
  /// Creates the options from the byte of the header.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// 64-bit offsets: no size limit, but 8 bytes more per record (`HDBTLARGE`).
  public static let large = HashFileOptions(rawValue: 1 << 0)
  /// Each value is compressed with Deflate (`HDBTDEFLATE`).
  public static let deflate = HashFileOptions(rawValue: 1 << 1)
  /// Each value is compressed with bzip2 (`HDBTBZIP`).
  public static let bzip = HashFileOptions(rawValue: 1 << 2)
  /// Each value is compressed with the library's own block sort (`HDBTTCBS`).
  public static let tcbs = HashFileOptions(rawValue: 1 << 3)
  /// Each value is encoded by a function of the program that wrote it (`HDBTEXCODEC`).
  public static let ownCodec = HashFileOptions(rawValue: 1 << 4)
  /// Any of the compressions.
  ///
  /// It is a constant, and not a union that is created on first use, because it is read for each
  /// record.
  package static let compressed = HashFileOptions(rawValue: 0b1_1110)
}
