/// The bytes of an archive, for reading its directory.
struct ArchiveSource {
  let path: String
  let size: Int
  let read: (_ offset: Int, _ count: Int) throws -> [UInt8]

  /// Returns bytes of the file, all of them.
  func bytes(_ offset: Int, _ count: Int) throws(DocumentError) -> [UInt8] {
    guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
      throw DocumentError.invalidArchive("it ends too early", path)
    }
    let bytes = try documentErrors(at: path) { try read(offset, count) }
    guard bytes.count == count else {
      throw DocumentError.invalidArchive("it ends too early", path)
    }
    return bytes
  }

  func invalid(_ reason: String) -> DocumentError { .invalidArchive(reason, path) }

  /// Converts a number of the file.
  func number(_ value: UInt64) throws(DocumentError) -> Int {
    guard value <= UInt64(size) else { throw invalid("a number in it is too large") }
    return Int(value)
  }
}

/// The place of the directory at the end of an archive, and the number of its entries.
struct ArchiveDirectory {
  private let start: Int
  private let byteCount: Int
  private let count: Int
  private let limits: ArchiveLimits

  /// Finds the directory.
  init(_ source: ArchiveSource, _ limits: ArchiveLimits) throws(DocumentError) {
    self.limits = limits
    // A comment of up to 65,535 bytes may follow.
    let tailSize = min(source.size, ArchiveFormat.endSize + 0xFFFF)
    let tail = try source.bytes(source.size - tailSize, tailSize)
    guard let end = Self.end(in: tail) else { throw source.invalid("it has no end") }
    guard tail.littleEndian16(at: end + 4) == 0, tail.littleEndian16(at: end + 6) == 0 else {
      throw source.invalid("it has several parts")
    }
    let position = source.size - tailSize + end
    if let wide = try Self.wide(source, before: position) {
      (start, byteCount, count) = wide
    } else {
      count = Int(tail.littleEndian16(at: end + 10))
      byteCount = Int(tail.littleEndian32(at: end + 12))
      start = Int(tail.littleEndian32(at: end + 16))
    }
    guard start <= position, byteCount <= position - start,
      count <= byteCount / ArchiveFormat.centralHeaderSize
    else { throw source.invalid("its directory is not where it should be") }
    guard count <= limits.entryCount, byteCount <= 1 << 28 else {
      throw DocumentError(.tooLarge, "The archive has \(count) entries.", at: source.path)
    }
  }

  private static func end(in tail: [UInt8]) -> Int? {
    var offset = tail.count - ArchiveFormat.endSize
    while offset >= 0 {
      if tail.littleEndian32(at: offset) == ArchiveFormat.end,
        offset + ArchiveFormat.endSize + Int(tail.littleEndian16(at: offset + 20)) == tail.count
      {
        return offset
      }
      offset -= 1
    }
    return nil
  }

  /// Reads the 64-bit numbers; returns nil if there are none.
  private static func wide(
    _ source: ArchiveSource, before end: Int
  ) throws(DocumentError) -> (start: Int, byteCount: Int, count: Int)? {
    let locatorSize = ArchiveFormat.end64LocatorSize
    guard end >= locatorSize else { return nil }
    let locator = try source.bytes(end - locatorSize, locatorSize)
    guard locator.littleEndian32(at: 0) == ArchiveFormat.end64Locator else { return nil }
    let position = try source.number(locator.littleEndian64(at: 8))
    let record = try source.bytes(position, ArchiveFormat.end64Size)
    guard record.littleEndian32(at: 0) == ArchiveFormat.end64 else {
      throw source.invalid("its end is damaged")
    }
    return (
      try source.number(record.littleEndian64(at: 48)),
      try source.number(record.littleEndian64(at: 40)),
      try source.number(record.littleEndian64(at: 32))
    )
  }

  /// Reads all entries, and checks them.
  func entries(in source: ArchiveSource) throws(DocumentError) -> [ArchiveEntry] {
    let bytes = try source.bytes(start, byteCount)
    var entries: [ArchiveEntry] = []
    var names: Set<ArchiveName> = []
    var (offset, total) = (0, 0)
    for _ in 0..<count {
      let (entry, end) = try CentralHeader(bytes, at: offset, source).entry()
      offset = end
      guard let entry else { continue }
      guard names.insert(entry.name).inserted else {
        throw source.invalid("it has \(printable(entry.name.path)) twice")
      }
      // Sizes are at most that of the file, so the sum can't overflow before it is too large.
      total += entry.size
      guard total <= limits.byteCount else {
        throw DocumentError(
          .tooLarge, "The content of the archive has more than \(limits.byteCount) bytes.",
          at: source.path)
      }
      entries.append(entry)
    }
    return try located(entries, in: source)
  }

  /// Reads the local headers, and checks that no two entries overlap.
  private func located(
    _ entries: [ArchiveEntry], in source: ArchiveSource
  ) throws(DocumentError) -> [ArchiveEntry] {
    var result: [ArchiveEntry] = []
    var end = 0
    for var entry in entries.sorted(by: { $0.start < $1.start }) {
      guard entry.start >= end else { throw source.invalid("two entries overlap") }
      let header = try source.bytes(entry.start, ArchiveFormat.localHeaderSize)
      let nameSize = Int(header.littleEndian16(at: 26))
      entry.content =
        entry.start + ArchiveFormat.localHeaderSize + nameSize
        + Int(header.littleEndian16(at: 28))
      guard header.littleEndian32(at: 0) == ArchiveFormat.localHeader,
        try source.bytes(entry.start + ArchiveFormat.localHeaderSize, nameSize)
          == entry.name.bytes
      else { throw source.invalid("an entry is not where its directory says") }
      guard entry.content <= start, entry.size <= start - entry.content else {
        throw source.invalid("an entry is larger than the file")
      }
      end = entry.content + entry.size
      result.append(entry)
    }
    return result
  }
}
