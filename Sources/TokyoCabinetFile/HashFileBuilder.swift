import Files

/// A file that is being put together: what is written, and what is known of its records.
struct HashFileBuilder {
  let path: String
  let layout: HashFileLayout
  /// Where things go: the end of the file in memory, what is before it on the disk.
  var image: HashFileImage
  private(set) var entries: [Entry] = []

  /// What is known of a record, to find its place among others of its bucket.
  struct Entry {
    /// Second hash, size of the key up to 255, and the first 6 bytes of the key: its order among the
    /// records of the bucket, as far as that goes.
    let order: UInt64
    let offset: Int
    let bucket: UInt32
  }

  init(_ path: String, _ layout: HashFileLayout, _ descriptor: Int32?) {
    self.path = path
    self.layout = layout
    image = HashFileImage(path, descriptor, start: layout.first)
  }

  /// Appends a record, compressed if the layout says so.
  mutating func append(_ key: RawSpan, _ value: RawSpan) throws(HashFileError) {
    precondition(!image.isFinished, "a record for a file that is finished")
    guard layout.options.contains(.deflate) else { return try appendPlain(key, value) }
    guard value.byteCount <= HashFileFormat.recordLimit, let small = Deflate.deflated(value) else {
      throw tooLarge("a value can't be compressed")
    }
    try small.lend { (small) throws(HashFileError) in try appendPlain(key, small) }
  }

  private mutating func appendPlain(_ key: RawSpan, _ value: RawSpan) throws(HashFileError) {
    let (keyCount, valueCount) = (key.byteCount, value.byteCount)
    guard keyCount <= HashFileFormat.recordLimit,
      valueCount <= HashFileFormat.recordLimit - keyCount
    else { throw tooLarge("a record may not be larger than 512 MiB") }
    let offset = image.end
    let head =
      4 + 2 * layout.width + HashFileFormat.width(ofSize: keyCount)
      + HashFileFormat.width(ofSize: valueCount)
    let end = layout.aligned(offset + head + keyCount + valueCount)
    guard end <= layout.sizeLimit, entries.count < UInt32.max - 1 else {
      throw tooLarge("the file would be larger than its offsets can address: use the option large")
    }
    let padding = end - offset - head - keyCount - valueCount
    let hashes = HashFileFormat.hashes(of: key)
    entries.append(
      Entry(
        order: Self.order(hashes.second, key), offset: offset,
        bucket: UInt32(hashes.first % UInt64(layout.bucketCount))))
    image.tail.append(record: hashes.second, key, value, padding: padding, layout)
    try image.flushIfFull()
  }

  /// The first 8 bytes of what decides on the place of a key.
  private static func order(_ hash: UInt8, _ key: RawSpan) -> UInt64 {
    var order = UInt64(hash) << 56 | UInt64(min(key.byteCount, 255)) << 48
    for index in 0..<min(key.byteCount, 6) {
      order |= UInt64(key.loadByte(at: index)) << UInt64(40 - 8 * index)
    }
    return order
  }

  func tooLarge(_ message: String) -> HashFileError {
    HashFileError(.tooLarge, message, path: path, offset: image.end)
  }
}

extension [UInt8] {
  /// Appends a record without links (`tchdbwriterec`).
  fileprivate mutating func append(
    record hash: UInt8, _ key: RawSpan, _ value: RawSpan, padding: Int, _ layout: HashFileLayout
  ) {
    append(HashFileFormat.recordMark)
    append(hash)
    for _ in 0..<2 * layout.width { append(0) }
    let (high, low) = (UInt8(padding >> 8), UInt8(truncatingIfNeeded: padding))
    append(layout.byteOrder == .big ? high : low)
    append(layout.byteOrder == .big ? low : high)
    append(size: key.byteCount)
    append(size: value.byteCount)
    append(copying: key)
    append(copying: value)
    for _ in 0..<padding { append(0) }
  }
}
