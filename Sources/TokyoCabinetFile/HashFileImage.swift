import Files

/// A file that is being written from its first record on: its end in memory, what is before that on
/// the disk.
struct HashFileImage {
  /// nil: everything stays in memory, or the file is closed.
  private var file: NewFile?
  /// Where the part in memory begins.
  private var tailStart: Int
  /// The part that is in memory.
  var tail: [UInt8] = []
  /// Whether the file is closed, and either whole or removed.
  private(set) var isFinished = false

  /// So much is gathered before it is written.
  private static let capacity = 512 << 10

  init(_ file: NewFile?, start: Int) { (self.file, tailStart) = (file, start) }

  /// Where the file ends.
  @inline(__always)
  var end: Int { tailStart + tail.count }

  /// Writes the part in memory when it has become large.
  @inline(__always)
  mutating func flushIfFull() throws(HashFileError) {
    if tail.count >= Self.capacity { try flush() }
  }

  private mutating func flush() throws(HashFileError) {
    guard let file else { return }
    try write(tail, at: tailStart, to: file)
    tailStart += tail.count
    tail.removeAll(keepingCapacity: true)
  }

  private func write(
    _ bytes: [UInt8], at offset: Int, to file: NewFile
  ) throws(HashFileError) {
    try hashFileErrors { () throws(SystemError) in try file.write(bytes, at: offset) }
  }

  /// Writes the rest and the beginning, and closes the file.
  mutating func finish(_ start: [UInt8], synchronized: Bool) throws(HashFileError) {
    guard let file else { return }
    try flush()
    try write(start, at: 0, to: file)
    if synchronized {
      try hashFileErrors { () throws(SystemError) in try file.synchronize() }
    }
    self.file = nil
    isFinished = true
  }

  /// Closes and removes the file, unless it is finished.
  mutating func abandon() {
    guard let file else { return }
    self.file = nil
    isFinished = true
    try? removeFile(file.location)
  }
}
