import StoreEngine

/// Reads a file line by line, in memory bounded by the longest line.
struct JSONLines {
  private static let chunkSize = 1 << 18

  private let file: StoreFile
  /// The bytes that lines are found in.
  private(set) var bytes: [UInt8] = []
  /// Where the next line begins in them.
  private var start = 0
  /// How much of the file has been read.
  private var offset = 0
  /// The size of the file when it was opened.
  let size: Int
  /// The number of the last line, from 1.
  private(set) var number = 0
  /// How much of the file has been handed out.
  var position: Int { offset - bytes.count + start }

  /// Opens a file.
  init(_ path: String) throws {
    file = try StoreFile(path, writable: false)
    size = try file.size()
  }

  /// The next line that isn't blank, as a range of ``bytes``; nil at the end.
  mutating func next() throws -> Range<Int>? {
    while let line = try nextLine() {
      if !bytes[line].allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return line }
    }
    return nil
  }

  private mutating func nextLine() throws -> Range<Int>? {
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        return take(start..<end, upTo: end + 1)
      }
      bytes.removeFirst(start)
      start = 0
      searched = bytes.count
      let chunk = try file.read(max(Self.chunkSize, bytes.count), at: offset)
      guard !chunk.isEmpty else { return bytes.isEmpty ? nil : take(0..<bytes.count) }
      offset += chunk.count
      bytes += chunk
    }
  }

  private mutating func take(_ line: Range<Int>, upTo next: Int? = nil) -> Range<Int> {
    start = next ?? line.upperBound
    number += 1
    return line
  }
}
