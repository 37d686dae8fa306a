/// An entry in the directory of an archive.
struct CentralHeader {
  private let bytes: [UInt8]
  private let start: Int
  private let source: ArchiveSource
  private let name: Range<Int>
  private let extra: Range<Int>
  private let end: Int

  /// Finds the parts of an entry.
  init(_ bytes: [UInt8], at start: Int, _ source: ArchiveSource) throws(DocumentError) {
    (self.bytes, self.start, self.source) = (bytes, start, source)
    guard bytes.count - start >= ArchiveFormat.centralHeaderSize,
      bytes.littleEndian32(at: start) == ArchiveFormat.centralHeader
    else { throw source.invalid("its directory is damaged") }
    let nameStart = start + ArchiveFormat.centralHeaderSize
    name = nameStart..<nameStart + Int(bytes.littleEndian16(at: start + 28))
    extra = name.upperBound..<name.upperBound + Int(bytes.littleEndian16(at: start + 30))
    end = extra.upperBound + Int(bytes.littleEndian16(at: start + 32))
    guard end <= bytes.count else { throw source.invalid("its directory is damaged") }
  }

  /// Checks the entry.
  ///
  /// - Returns: The entry, nil for a folder; and the offset of the next one.
  func entry() throws(DocumentError) -> (ArchiveEntry?, end: Int) {
    let bytes = Array(self.bytes[name])
    let type = self.bytes.littleEndian32(at: start + 38) >> 16 & ArchiveFormat.typeMask
    if bytes.last == UInt8(ascii: "/") {
      try checkFolder(bytes, type)
      return (nil, end)
    }
    guard let name = ArchiveName(bytes) else {
      let text = printable(String(decoding: bytes, as: UTF8.self))
      throw source.invalid("no document has a file \"\(text)\"")
    }
    // Other systems leave the type out.
    guard type == ArchiveFormat.regularFile || type == 0 else {
      throw source.invalid("\(printable(name.path)) is a symbolic link or another special file")
    }
    let flags = self.bytes.littleEndian16(at: start + 8)
    guard flags & ArchiveFormat.encryptedFlag == 0 else {
      throw source.invalid("\(printable(name.path)) has a password")
    }
    guard self.bytes.littleEndian16(at: start + 10) == 0 else {
      throw source.invalid(
        "\(printable(name.path)) is compressed. Pack it without compression (zip -0)")
    }
    return (try entry(name), end)
  }

  private func checkFolder(_ bytes: [UInt8], _ type: UInt32) throws(DocumentError) {
    let names = [PackageFormat.store, PackageFormat.previews].map { Array("\($0)/".utf8) }
    guard names.contains(bytes), type == ArchiveFormat.directory || type == 0 else {
      let text = printable(String(decoding: bytes, as: UTF8.self))
      throw source.invalid("no document has a folder \"\(text)\"")
    }
  }

  private func entry(_ name: ArchiveName) throws(DocumentError) -> ArchiveEntry {
    var wide = try wideNumbers()
    func number(_ offset: Int) throws(DocumentError) -> Int {
      let narrow = bytes.littleEndian32(at: start + offset)
      guard narrow == UInt32.max, !wide.isEmpty else { return try source.number(UInt64(narrow)) }
      return try source.number(wide.removeFirst())
    }
    // The extra field has the numbers in this order, and only those that need it.
    let size = try number(24)
    guard try number(20) == size else {
      throw source.invalid("the two sizes of \(printable(name.path)) differ")
    }
    return ArchiveEntry(
      name: name, size: size, checksum: bytes.littleEndian32(at: start + 16),
      start: try number(42))
  }

  /// Returns the 64-bit numbers in the extra field.
  private func wideNumbers() throws(DocumentError) -> [UInt64] {
    var offset = extra.lowerBound
    while extra.upperBound - offset >= 4 {
      let (id, size) = (bytes.littleEndian16(at: offset), bytes.littleEndian16(at: offset + 2))
      offset += 4
      guard Int(size) <= extra.upperBound - offset else {
        throw source.invalid("its directory is damaged")
      }
      if id == ArchiveFormat.extra64 {
        return stride(from: offset, through: offset + Int(size) - 8, by: 8).map {
          bytes.littleEndian64(at: $0)
        }
      }
      offset += Int(size)
    }
    return []
  }
}
