import StoreEngine

/// A reader of the lines of a file, in memory bounded by the longest line without its large texts.
struct JSONLines {
  static let chunkSize = 1 << 18

  private let file: StoreFile
  /// The buffer that contains the current line.
  private(set) var bytes: [UInt8] = []
  /// The start of the next line in the buffer.
  private var start = 0
  /// The large texts of the last line, for which ``bytes`` has placeholders.
  let large = LargeTexts<LargeText>()
  /// The size of the last line in the file.
  private(set) var byteCount = 0
  /// The number of bytes that the line is longer in the file, from each index on.
  private var shifts: [(index: Int, count: Int)] = []
  /// The offset up to which the file has been read.
  private var offset = 0
  /// The size of the file when it was opened.
  let size: Int
  /// The number of the last line, from 1.
  private(set) var number = 0
  /// The offset up to which lines have been returned.
  var position: Int { offset - bytes.count + start }

  /// Opens a file.
  init(_ path: String) throws {
    file = try StoreFile(path, writable: false)
    size = try file.size()
  }

  /// Returns the next line that is not blank as a range of ``bytes``, or nil at the end.
  mutating func next() throws -> Range<Int>? {
    while let line = try nextLine() {
      if !bytes[line].allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return line }
    }
    return nil
  }

  private mutating func nextLine() throws -> Range<Int>? {
    large.removeAll()
    shifts = []
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        byteCount = end - start
        return take(start..<end, upTo: end + 1)
      }
      bytes.removeFirst(start)
      start = 0
      if bytes.count >= Self.chunkSize { return try longLine() }
      searched = bytes.count
      let chunk = try file.read(Self.chunkSize, at: offset)
      guard !chunk.isEmpty else {
        byteCount = bytes.count
        return bytes.isEmpty ? nil : take(0..<bytes.count)
      }
      offset += chunk.count
      bytes += chunk
    }
  }

  /// Returns the offset in the line in the file, given an offset in the line without large texts.
  func offset(inFile offset: Int) -> Int {
    shifts.reduce(offset) { $0 + ($1.index <= offset ? $1.count : 0) }
  }

  /// Reads the rest of a line that begins with ``bytes``, and leaves out its large texts.
  private mutating func longLine() throws -> Range<Int> {
    let first = offset - bytes.count
    var line = LongLine(file, from: first, large)
    var piece = bytes
    while true {
      if let end = try line.append(piece) {
        // The bytes after the line stay in the buffer.
        bytes = line.bytes + piece[end...]
        shifts = line.shifts
        byteCount = line.offset - 1 - first
        return take(0..<line.bytes.count, upTo: line.bytes.count)
      }
      piece = try file.read(Self.chunkSize, at: offset)
      offset += piece.count
      if piece.isEmpty {
        bytes = try line.finish()
        shifts = line.shifts
        byteCount = line.offset - first
        return take(0..<bytes.count)
      }
    }
  }

  private mutating func take(_ line: Range<Int>, upTo next: Int? = nil) -> Range<Int> {
    start = next ?? line.upperBound
    number += 1
    return line
  }
}

extension JSONLines {
  /// Returns a value of the last line with its large texts.
  func whole(_ value: StoredValue) throws -> StoredValue { try large.whole(value) }

  /// Returns a text of the last line in full.
  func whole(_ text: String) throws -> String { try large.source(of: text)?.text() ?? text }
}

extension LargeTexts<LargeText> {
  /// Returns a value with its large texts.
  func whole(_ value: StoredValue) throws -> StoredValue {
    isEmpty ? value : try value.replacingTexts { try source(of: $0)?.text() }
  }
}
