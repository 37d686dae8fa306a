import Files

/// A file that is being written from its first record on: its end in memory, what is before that on
/// the disk.
struct HashFileImage {
  private let path: String
  /// nil: everything stays in memory.
  private var descriptor: Int32?
  /// Where the part in memory begins.
  private var tailStart: Int
  /// The part that is in memory.
  var tail: [UInt8] = []
  /// Whether the file is closed, and either whole or removed.
  private(set) var isFinished = false

  /// So much is gathered before it is written.
  private static let capacity = 512 << 10

  init(_ path: String, _ descriptor: Int32?, start: Int) {
    self.path = path
    self.descriptor = descriptor
    tailStart = start
  }

  /// Where the file ends.
  @inline(__always)
  var end: Int { tailStart + tail.count }

  /// Writes the part in memory when it has become large.
  @inline(__always)
  mutating func flushIfFull() throws(HashFileError) {
    if tail.count >= Self.capacity { try flush() }
  }

  private mutating func flush() throws(HashFileError) {
    guard let descriptor else { return }
    try write(tail, at: tailStart, descriptor)
    tailStart += tail.count
    tail.removeAll(keepingCapacity: true)
  }

  private func write(
    _ bytes: [UInt8], at offset: Int, _ descriptor: Int32
  ) throws(HashFileError) {
    try hashFileErrors { () throws(SystemError) in
      try writeFile(descriptor, path, bytes, at: offset)
    }
  }

  /// Writes the rest and the beginning, and closes the file.
  mutating func finish(_ start: [UInt8], synchronized: Bool) throws(HashFileError) {
    guard let descriptor else { return }
    try flush()
    try write(start, at: 0, descriptor)
    if synchronized {
      try hashFileErrors { () throws(SystemError) in try syncDescriptor(descriptor, path) }
    }
    closeFile(descriptor)
    self.descriptor = nil
    isFinished = true
  }

  /// Closes and removes the file, unless it is finished.
  mutating func abandon() {
    guard let descriptor, !isFinished else { return }
    closeFile(descriptor)
    self.descriptor = nil
    isFinished = true
    try? removeFile(path)
  }
}
