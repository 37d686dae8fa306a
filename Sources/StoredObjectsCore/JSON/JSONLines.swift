import StoreEngine

/// Reads a file line by line, in memory bounded by the longest line without its large texts.
struct JSONLines {
  static let chunkSize = 1 << 18

  private let file: StoreFile
  /// The bytes that lines are found in.
  private(set) var bytes: [UInt8] = []
  /// Where the next line begins in them.
  private var start = 0
  /// The texts of the last line that have stand-ins in ``bytes``.
  let large = LargeTexts<LargeText>()
  /// The size of the last line in the file.
  private(set) var byteCount = 0
  /// By how many bytes it is longer in the file, from each index on.
  private var shifts: [(index: Int, count: Int)] = []
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

  /// The offset in the last line, as it is in the file, of a byte of the line without large texts.
  func offset(inFile offset: Int) -> Int {
    shifts.reduce(offset) { $0 + ($1.index <= offset ? $1.count : 0) }
  }

  /// Reads on in a line of which ``bytes`` are the beginning, and leaves its large texts out.
  private mutating func longLine() throws -> Range<Int> {
    let first = offset - bytes.count
    var line = LongLine(file, from: first, large)
    var piece = bytes
    while true {
      if let end = try line.append(piece) {
        // What stands behind it is kept as it is.
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
  /// A value of the last line with its large texts.
  func whole(_ value: StoredValue) throws -> StoredValue { try large.whole(value) }

  /// A text of the last line, all of it.
  func whole(_ text: String) throws -> String { try large.source(of: text)?.text() ?? text }
}

extension LargeTexts<LargeText> {
  /// A value with its large texts.
  func whole(_ value: StoredValue) throws -> StoredValue {
    isEmpty ? value : try value.replacingTexts { try source(of: $0)?.text() }
  }
}
