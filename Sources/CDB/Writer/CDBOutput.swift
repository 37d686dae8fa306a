internal import Files

/// The new file of a writer, under its temporary name, with a buffer in front of it.
///
/// Bytes are written at positions, so that a write that failed, on a full disk, can be tried again,
/// and what was appended last can be taken back.
struct CDBOutput: ~Copyable {
  static let bufferSize = 1 << 18

  /// The temporary name.
  let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// Where the buffer begins in the file.
  private var flushed: Int
  private let seam: CDBWriter.Seam

  /// Makes the file.
  init(
    _ path: String, like old: String, from start: Int, _ seam: CDBWriter.Seam
  ) throws(SystemError) {
    self.path = path
    self.seam = seam
    flushed = start
    try seam.before(.create)
    descriptor = try createFile(path, like: old)
    buffer.reserveCapacity(Self.bufferSize)
  }

  deinit { closeFile(descriptor) }

  /// Where the next byte goes.
  var position: Int { flushed + buffer.count }

  // MARK: Appending

  /// Appends bytes; a failure may have appended some of them.
  mutating func append(_ bytes: RawSpan) throws(SystemError) {
    if bytes.byteCount <= Self.bufferSize - buffer.count { return buffer.append(copying: bytes) }
    try appendInParts(bytes)
  }

  private mutating func appendInParts(_ bytes: RawSpan) throws(SystemError) {
    var done = 0
    while done < bytes.byteCount {
      if buffer.count >= Self.bufferSize { try flush() }
      let end = min(bytes.byteCount, done + Self.bufferSize - buffer.count)
      buffer.append(copying: bytes.extracting(done..<end))
      done = end
    }
  }

  /// Appends two numbers in the width of a format.
  mutating func append(
    _ first: UInt64, _ second: UInt64, _ format: CDBFormat
  ) throws(SystemError) {
    if buffer.count > Self.bufferSize - format.pairSize { try flush() }
    if format == .wide {
      buffer.append(littleEndian: first)
      buffer.append(littleEndian: second)
    } else {
      buffer.append(littleEndian: second << 32 | first)
    }
  }

  /// Takes back what was appended behind a position.
  mutating func removeAll(from position: Int) {
    if position >= flushed { return buffer.removeLast(self.position - position) }
    (flushed, buffer) = (position, [])
  }

  /// Writes what is in the buffer.
  mutating func flush() throws(SystemError) {
    if buffer.isEmpty { return }
    try write(buffer, at: flushed)
    flushed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  // MARK: The file

  func beginMoving() throws(SystemError) { try seam.before(.compact) }

  func write(_ bytes: [UInt8], at position: Int) throws(SystemError) {
    try seam.before(.write)
    try writeFile(descriptor, path, bytes, at: position)
  }

  /// Reads what has been appended before.
  func read(_ range: Range<Int>) throws(SystemError) -> [UInt8] {
    let fromFile = range.clamped(to: 0..<flushed)
    var bytes: [UInt8] = []
    if !fromFile.isEmpty {
      bytes = try readFile(descriptor, path, fromFile.count, at: fromFile.lowerBound)
    }
    if range.upperBound > flushed {
      bytes += buffer[max(range.lowerBound, flushed) - flushed..<range.upperBound - flushed]
    }
    return bytes
  }

  /// Cuts off what an attempt that failed, or replaced records, have left behind the end.
  func trim() throws(SystemError) {
    if try fileSize(descriptor, path) > flushed {
      try resizeFile(descriptor, path, to: flushed)
    }
  }

  /// Brings the file to the disk.
  func synchronize() throws(SystemError) {
    try seam.before(.synchronize)
    try syncDescriptor(descriptor, path)
  }

  /// Gives the file the name that it is for.
  func rename(to name: String) throws(SystemError) {
    try seam.before(.rename)
    try renameFile(path, name)
  }
}
