internal import Files

/// The new file of a writer, under its temporary name, with a write buffer.
///
/// Bytes are written at positions. So a write that failed on a full disk can be repeated, and the
/// bytes appended last can be removed.
struct CDBOutput: ~Copyable {
  static let bufferSize = 1 << 18

  private let file: NewFile
  private var buffer = WriteBuffer(capacity: Self.bufferSize)
  /// The position of the buffer in the file.
  var flushed: Int

  /// Creates the file.
  init(_ location: FileLocation, rights: FileRights, from start: Int) throws(SystemError) {
    flushed = start
    file = try .locked(location, rights: rights)
  }

  /// The location of the file under its temporary name.
  var location: FileLocation { file.location }

  /// The position of the next byte.
  var position: Int { flushed + buffer.count }

  // MARK: Appending

  /// Appends bytes; a failure may have appended some of them.
  mutating func append(_ bytes: RawSpan) throws(SystemError) {
    if bytes.byteCount <= buffer.room { return buffer.append(bytes) }
    try appendInParts(bytes)
  }

  private mutating func appendInParts(_ bytes: RawSpan) throws(SystemError) {
    var done = 0
    while done < bytes.byteCount {
      if buffer.room == 0 { try flush() }
      let end = min(bytes.byteCount, done + buffer.room)
      buffer.append(bytes.extracting(done..<end))
      done = end
    }
  }

  /// Appends two numbers in the width of a format.
  @inline(__always)
  mutating func append(
    _ first: UInt64, _ second: UInt64, _ format: CDBFormat
  ) throws(SystemError) {
    if buffer.room < format.pairSize { try flush() }
    if format == .wide {
      buffer.append(littleEndian: first)
      buffer.append(littleEndian: second)
    } else {
      buffer.append(littleEndian: second << 32 | first)
    }
  }

  /// Removes the bytes that were appended after a position.
  mutating func removeAll(from position: Int) {
    if position >= flushed { return buffer.removeLast(self.position - position) }
    buffer.removeAll()
    flushed = position
  }

  /// Writes the content of the buffer.
  mutating func flush() throws(SystemError) {
    if buffer.count == 0 { return }
    try buffer.lend { (bytes) throws(SystemError) in try write(bytes, at: flushed) }
    flushed += buffer.count
    buffer.removeAll()
  }

  // MARK: The file

  func write(_ bytes: [UInt8], at position: Int) throws(SystemError) {
    try bytes.lend { (bytes) throws(SystemError) in try write(bytes, at: position) }
  }

  private func write(_ bytes: RawSpan, at position: Int) throws(SystemError) {
    try file.write(bytes, at: position)
  }

  /// Reads bytes that have been appended before.
  func read(_ range: Range<Int>) throws(SystemError) -> [UInt8] {
    let fromFile = range.clamped(to: 0..<flushed)
    var bytes = fromFile.isEmpty ? [] : try file.read(fromFile)
    if range.upperBound > flushed {
      let rest = max(range.lowerBound, flushed) - flushed..<range.upperBound - flushed
      buffer.lend { bytes.append(copying: $0.extracting(rest)) }
    }
    return bytes
  }

  /// Truncates the file to remove bytes that a failed attempt, or replaced records, have left.
  func trim() throws(SystemError) { try file.trim(to: flushed) }

  /// Syncs the file.
  func synchronize() throws(SystemError) { try file.synchronize() }

  /// Renames the file to its final name.
  func rename(to name: FileLocation) throws(SystemError) {
    try renameFile(location, name)
  }
}
