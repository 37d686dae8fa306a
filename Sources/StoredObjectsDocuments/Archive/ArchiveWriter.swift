import Files

/// Writes an archive to a new file, entry by entry.
struct ArchiveWriter {
  private let file: NewFile
  private var end = 0
  private var directory: [UInt8] = []
  private var count = 0
  /// The number from which 64-bit fields are used; only tests use another one.
  private let limit: UInt64

  init(_ file: NewFile, wideFrom limit: UInt64 = 0xFFFF_FFFF) {
    (self.file, self.limit) = (file, limit)
  }

  /// Appends an entry with the given bytes.
  mutating func add(_ name: String, _ bytes: [UInt8]) throws {
    var isDone = false
    try add(name, size: bytes.count, mode: 0o644) {
      defer { isDone = true }
      return isDone ? [] : bytes
    }
  }

  /// Appends an entry whose bytes a closure returns piece by piece.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - size: The number of bytes.
  ///   - mode: The permissions of the file.
  ///   - next: Returns the next bytes; empty at the end.
  /// - Throws: `SystemError`, ``DocumentError``, or an error of the closure.
  mutating func add(
    _ name: String, size: Int, mode: UInt32, _ next: () throws -> [UInt8]
  ) throws {
    let start = end
    let header = localHeader(name, size)
    try append(header)
    var (checksum, rest) = (ArchiveChecksum(), size)
    while true {
      let bytes = try next()
      if bytes.isEmpty { break }
      checksum.add(bytes)
      rest -= bytes.count
      try append(bytes)
    }
    guard rest == 0 else {
      throw DocumentError(
        .ioError, "A file of the copy has changed its size.", at: file.location.path)
    }
    var bytes: [UInt8] = []
    bytes.append(littleEndian: checksum.value)
    try file.write(bytes, at: start + ArchiveFormat.checksumOffset)
    addToDirectory(name, size: size, checksum.value, at: start, mode: mode)
  }

  private mutating func append(_ bytes: [UInt8]) throws {
    try file.write(bytes, at: end)
    end += bytes.count
  }

  private func isWide(_ number: Int) -> Bool { UInt64(number) >= limit }

  private func localHeader(_ name: String, _ size: Int) -> [UInt8] {
    let isWide = isWide(size)
    var header: [UInt8] = []
    header.append(littleEndian: ArchiveFormat.localHeader)
    header.append(littleEndian: UInt16(isWide ? 45 : 20))
    header.append(littleEndian: name == ArchiveFormat.mimeTypeName ? 0 : ArchiveFormat.utf8Flag)
    header.append(littleEndian: UInt16(0))
    header.append(littleEndian: ArchiveFormat.date)
    header.append(littleEndian: UInt32(0))
    for _ in 0..<2 { header.append(littleEndian: isWide ? UInt32.max : UInt32(size)) }
    header.append(littleEndian: UInt16(name.utf8.count))
    header.append(littleEndian: UInt16(isWide ? 20 : 0))
    header += name.utf8
    if isWide { append(wide: [size, size], to: &header) }
    return header
  }

  private func append(wide numbers: [Int], to bytes: inout [UInt8]) {
    bytes.append(littleEndian: ArchiveFormat.extra64)
    bytes.append(littleEndian: UInt16(8 * numbers.count))
    for number in numbers { bytes.append(littleEndian: UInt64(number)) }
  }

  private mutating func addToDirectory(
    _ name: String, size: Int, _ checksum: UInt32, at offset: Int, mode: UInt32
  ) {
    var wide: [Int] = []
    if isWide(size) { wide += [size, size] }
    if isWide(offset) { wide.append(offset) }
    directory.append(littleEndian: ArchiveFormat.centralHeader)
    // The high byte is the system, which is Unix.
    directory.append(littleEndian: UInt16(3 << 8 | 45))
    directory.append(littleEndian: UInt16(wide.isEmpty ? 20 : 45))
    directory.append(
      littleEndian: name == ArchiveFormat.mimeTypeName ? 0 : ArchiveFormat.utf8Flag)
    directory.append(littleEndian: UInt16(0))
    directory.append(littleEndian: ArchiveFormat.date)
    directory.append(littleEndian: checksum)
    for _ in 0..<2 { directory.append(littleEndian: isWide(size) ? UInt32.max : UInt32(size)) }
    directory.append(littleEndian: UInt16(name.utf8.count))
    directory.append(littleEndian: UInt16(wide.isEmpty ? 0 : 4 + 8 * wide.count))
    for _ in 0..<3 { directory.append(littleEndian: UInt16(0)) }
    directory.append(littleEndian: (ArchiveFormat.regularFile | mode) << 16)
    directory.append(littleEndian: isWide(offset) ? UInt32.max : UInt32(offset))
    directory += name.utf8
    if !wide.isEmpty { append(wide: wide, to: &directory) }
    count += 1
  }

  /// Writes the directory of the entries, and syncs the file.
  mutating func finish() throws {
    let (start, size) = (end, directory.count)
    try append(directory)
    var tail: [UInt8] = []
    let isWide = count >= 0xFFFF || isWide(start) || isWide(size)
    if isWide { appendEnd64(start: start, size: size, to: &tail) }
    tail.append(littleEndian: ArchiveFormat.end)
    tail.append(littleEndian: UInt32(0))
    for _ in 0..<2 { tail.append(littleEndian: isWide ? UInt16.max : UInt16(count)) }
    tail.append(littleEndian: isWide ? UInt32.max : UInt32(size))
    tail.append(littleEndian: isWide ? UInt32.max : UInt32(start))
    tail.append(littleEndian: UInt16(0))
    try append(tail)
    try file.synchronize()
  }

  private func appendEnd64(start: Int, size: Int, to tail: inout [UInt8]) {
    let position = end
    tail.append(littleEndian: ArchiveFormat.end64)
    tail.append(littleEndian: UInt64(ArchiveFormat.end64Size - 12))
    for _ in 0..<2 { tail.append(littleEndian: UInt16(45)) }
    for _ in 0..<2 { tail.append(littleEndian: UInt32(0)) }
    for _ in 0..<2 { tail.append(littleEndian: UInt64(count)) }
    tail.append(littleEndian: UInt64(size))
    tail.append(littleEndian: UInt64(start))
    tail.append(littleEndian: ArchiveFormat.end64Locator)
    tail.append(littleEndian: UInt32(0))
    tail.append(littleEndian: UInt64(position))
    tail.append(littleEndian: UInt32(1))
  }
}
