package import Files

/// The header of a hash database file.
///
/// All numbers are in the byte order of the library that wrote them (`tchdbdumpmeta` of tchdb.c):
///
///     0    magic "ToKyO CaBiNeT\n"
///     32   type (0 = hash)   33 flags   34 alignment power   35 free block power   36 options
///     40   UInt64 buckets    48 UInt64 records   56 UInt64 file size   64 UInt64 first record
public struct HashFileHeader: Sendable, Hashable {
  /// The number of bytes of a header.
  public static let size = 256
  /// The part of the header that is reserved for programs, see ``HashFileLayout/opaque``.
  public static let opaque = HashFileFormat.opaque

  /// The order of the bytes of a number.
  public enum ByteOrder: Sendable, Hashable, CaseIterable {
    /// Least significant byte first: the original library on x86 and Arm.
    case little
    /// Most significant byte first: Debian's build of the library, on any machine.
    case big
  }

  /// The byte order in which the numbers are valid.
  public let byteOrder: ByteOrder
  /// The kind of database; 0 for a hash database.
  public let type: UInt8
  /// Whether a writer has the file open, or ended without closing it (bit 0 of byte 33).
  public let isMarkedOpen: Bool
  /// Whether the library has found a fatal error in the file (bit 1 of byte 33).
  public let isMarkedFatal: Bool
  /// The alignment of records as a power of two.
  public let alignmentPower: UInt8
  /// The size of the free block pool as a power of two.
  public let freeBlockPower: UInt8
  /// The options for 64-bit offsets and compression.
  public let options: HashFileOptions
  /// The number of buckets.
  public let bucketCount: UInt64
  /// The number of records.
  public let recordCount: UInt64
  /// The size of the file according to the library; the file may be longer.
  public let fileSize: UInt64
  /// The offset of the first record.
  public let firstRecord: UInt64

  /// Reads the header of a mapped file; nil if it has none.
  package init?(_ file: MappedFile) {
    self.init(bytes: file.withBytes { [UInt8](copying: $0.extracting(first: Self.size)) })
  }

  /// Reads a header from the first ``size`` bytes of a file; nil if they are not a valid header.
  public init?(bytes: [UInt8]) {
    guard bytes.count >= Self.size, bytes.starts(with: "ToKyO CaBiNeT\n".utf8) else { return nil }
    let big = Self.numbers(bytes, .big)
    let little = Self.numbers(bytes, .little)
    let entry: UInt64 = bytes[36] & 1 == 1 ? 8 : 4
    guard Self.makeSense(big, entry) || Self.makeSense(little, entry) else { return nil }
    let numbers = Self.makeSense(big, entry) ? big : little
    byteOrder = Self.makeSense(big, entry) ? .big : .little
    type = bytes[32]
    isMarkedOpen = bytes[33] & 1 != 0
    isMarkedFatal = bytes[33] & 2 != 0
    alignmentPower = bytes[34]
    freeBlockPower = bytes[35]
    options = HashFileOptions(rawValue: bytes[36])
    bucketCount = numbers[0]
    recordCount = numbers[1]
    fileSize = numbers[2]
    firstRecord = numbers[3]
  }

  /// Returns the four numbers from byte 40 on.
  private static func numbers(_ bytes: [UInt8], _ order: ByteOrder) -> [UInt64] {
    stride(from: 40, to: 72, by: 8).map { start in
      let number = bytes[start..<start + 8]
      let first = order == .big ? Array(number) : number.reversed()
      return first.reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// Whether the buckets, the pool and the file size are consistent, and possible today.
  private static func makeSense(_ numbers: [UInt64], _ entry: UInt64) -> Bool {
    let (buckets, file, first) = (numbers[0], numbers[2], numbers[3])
    guard buckets > 0, file < 1 << 56, first <= file, buckets <= first / entry else { return false }
    return first >= 256 + buckets * entry + 64
  }
}
