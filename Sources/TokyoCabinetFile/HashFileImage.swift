import Files

/// A file that is being written sequentially: the end is in memory, the rest on the disk.
struct HashFileImage {
  /// The file; nil if everything stays in memory, or the file is closed.
  private var file: NewFile?
  /// The offset of the part in memory.
  private var tailStart: Int
  /// The part in memory.
  var tail: [UInt8] = []
  /// Whether the file is closed, and either complete or removed.
  private(set) var isFinished = false

  /// The number of bytes that are collected before they are written.
  private static let capacity = 512 << 10

  init(_ file: NewFile?, start: Int) { (self.file, tailStart) = (file, start) }

  /// The end of the file.
  @inline(__always)
  var end: Int { tailStart + tail.count }

  /// Writes the part in memory if it is large.
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

  /// Writes the rest and the part before the first record, and closes the file.
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
