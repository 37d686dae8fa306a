import Files

/// The layout of a hash file that is written as a whole.
public struct HashFileLayout: Sendable, Hashable {
  /// The order of the bytes of its numbers.
  ///
  /// The C library reads only files of one order: Debian's build reads `big`, which is the default,
  /// others `little`.
  public var byteOrder: HashFileHeader.ByteOrder
  /// The exact number of buckets; the default is the library's 131,071.
  ///
  /// A bucket takes 4 bytes of the file (8 with ``HashFileOptions/large``). Records that share a
  /// bucket form a binary tree.
  public var bucketCount: Int
  /// The alignment of records as a power of two, 0 to 16; the default is 4, or 16 bytes.
  ///
  /// A small alignment makes a smaller file, which may grow to 4 GiB times the alignment.
  public var alignmentPower: UInt8
  /// The size of the free-block pool as a power of two, 0 to 20; the default is 10.
  public var freeBlockPower: UInt8
  /// The options for 64-bit offsets and compression; by default neither.
  ///
  /// Of the compressions only Deflate can be written.
  public var options: HashFileOptions
  /// Up to 128 bytes in the header that programs may use; by default none.
  public var opaque: [UInt8] = []

  /// Creates a layout; the defaults are those of the library.
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

  /// The number of bytes of an offset.
  var width: Int { options.contains(.large) ? 8 : 4 }
  var alignment: Int { 1 << Int(alignmentPower) }

  /// The offset of the first block (`tchdbopenimpl`).
  var first: Int {
    let pool = HashFileFormat.poolBase + HashFileFormat.poolEntry << Int(freeBlockPower)
    return aligned(HashFileHeader.size + bucketCount * width + pool)
  }

  /// Returns the first offset, from a given one on, at which a block can begin.
  @inline(__always)
  func aligned(_ offset: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }

  /// The maximum size of the file, which its offsets can address.
  var sizeLimit: Int { options.contains(.large) ? 1 << 47 : (1 << 32) << Int(alignmentPower) }

  /// Returns the size of a record without its padding.
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
  /// Returns the bytes of a header of this format, as Debian's version of the library writes them.
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
  /// Creates the layout of a header, without its opaque bytes.
  init(of header: HashFileHeader) {
    self.init(
      byteOrder: header.byteOrder, bucketCount: Int(clamping: header.bucketCount),
      alignmentPower: header.alignmentPower, freeBlockPower: header.freeBlockPower,
      options: header.options)
  }
}

extension HashFile {
  /// The layout of the file, for a file that replaces it.
  public var layout: HashFileLayout {
    var layout = HashFileLayout(of: header)
    layout.opaque = file.withBytes { [UInt8](copying: $0.extracting(HashFileFormat.opaque)) }
    return layout
  }
}
