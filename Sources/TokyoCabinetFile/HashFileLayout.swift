import Files

/// How a file that is written anew is laid out.
public struct HashFileLayout: Sendable, Hashable {
  /// The order of the bytes of its numbers.
  ///
  /// The C library reads files of one order only: Debian's build those of `big`, which is the
  /// default, others those of `little`.
  public var byteOrder: HashFileHeader.ByteOrder
  /// The number of buckets, exactly; the default is the library's 131,071.
  ///
  /// A bucket takes 4 bytes of the file (8 with ``HashFileOptions/large``). Records that share a
  /// bucket form a binary tree.
  public var bucketCount: Int
  /// Records start at multiples of two to this power, 0 to 16; the default is 4, 16 bytes.
  ///
  /// A small alignment makes a smaller file, which may grow to 4 GiB times the alignment.
  public var alignmentPower: UInt8
  /// The free-block pool has two to this power entries, 0 to 20; the default is 10.
  public var freeBlockPower: UInt8
  /// 64-bit offsets, and compression, of which only Deflate can be written; by default neither.
  public var options: HashFileOptions
  /// Up to 128 bytes that stand in the header for the program; by default none.
  public var opaque: [UInt8] = []

  /// Describes a layout; what is left out is the library's default.
  public init(
    byteOrder: HashFileHeader.ByteOrder = .big, bucketCount: Int = 131_071,
    alignmentPower: UInt8 = 4, freeBlockPower: UInt8 = 10, options: HashFileOptions = []
  ) {
    self.byteOrder = byteOrder
    self.bucketCount = bucketCount
    self.alignmentPower = alignmentPower
    self.freeBlockPower = freeBlockPower
    self.options = options
  }

  /// The width of an offset.
  var width: Int { options.contains(.large) ? 8 : 4 }
  var alignment: Int { 1 << Int(alignmentPower) }

  /// Where the first block begins (`tchdbopenimpl`).
  var first: Int {
    let pool = HashFileFormat.poolBase + HashFileFormat.poolEntry << Int(freeBlockPower)
    return aligned(HashFileHeader.size + bucketCount * width + pool)
  }

  /// The first place from an offset on where a block can begin.
  @inline(__always)
  func aligned(_ offset: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }

  /// How large the file may become: what its offsets can address.
  var sizeLimit: Int { options.contains(.large) ? 1 << 47 : (1 << 32) << Int(alignmentPower) }

  /// The size of a record without its padding.
  @inline(__always)
  func recordSize(_ keyCount: Int, _ valueCount: Int) -> Int {
    4 + 2 * width + HashFileFormat.width(ofSize: keyCount)
      + HashFileFormat.width(ofSize: valueCount) + keyCount + valueCount
  }

  func check(_ path: String) throws(HashFileError) {
    if let fault { throw HashFileError(.invalidLayout, fault, path: path) }
  }

  private var fault: String? {
    if !(1..<1 << 31).contains(bucketCount) { return "\(bucketCount) buckets" }
    if alignmentPower > HashFileFormat.alignmentPowerLimit {
      return "the alignment power is \(alignmentPower)"
    }
    if freeBlockPower > HashFileFormat.freeBlockPowerLimit {
      return "the free-block power is \(freeBlockPower)"
    }
    if opaque.count > HashFileFormat.opaque.count { return "\(opaque.count) opaque bytes" }
    if !options.isSubset(of: [.large, .deflate]) { return "only Deflate can be written" }
    return first > sizeLimit ? "so many buckets need the option large" : nil
  }
}

extension HashFileHeader {
  /// The bytes of a header of this format, as the library that Debian has would write them.
  static func bytes(_ layout: HashFileLayout, recordCount: Int, fileSize: Int) -> [UInt8] {
    var bytes = Array("ToKyO CaBiNeT\n1.0:911\n".utf8)
    bytes += [UInt8](repeating: 0, count: size - bytes.count)
    bytes[34] = layout.alignmentPower
    bytes[35] = layout.freeBlockPower
    bytes[36] = layout.options.rawValue
    let numbers = [layout.bucketCount, recordCount, fileSize, layout.first]
    for (index, number) in numbers.enumerated() {
      bytes.store(UInt64(number), width: 8, at: 40 + 8 * index, layout.byteOrder)
    }
    bytes.replaceSubrange(
      HashFileFormat.opaque.prefix(layout.opaque.count), with: layout.opaque)
    return bytes
  }
}

extension HashFileLayout {
  /// The fields of a header, but for its opaque bytes.
  init(of header: HashFileHeader) {
    self.init(
      byteOrder: header.byteOrder, bucketCount: Int(clamping: header.bucketCount),
      alignmentPower: header.alignmentPower, freeBlockPower: header.freeBlockPower,
      options: header.options)
  }
}

extension HashFile {
  /// How the file is laid out; a file that is written anew in the same way takes its place.
  public var layout: HashFileLayout {
    var layout = HashFileLayout(of: header)
    layout.opaque = file.withBytes { [UInt8](copying: $0.extracting(HashFileFormat.opaque)) }
    return layout
  }
}
