import StoreEngine

/// A long line of a file of JSON, without its large texts.
///
/// It is no parser: it knows where texts begin and end, and leaves the rest to one.
struct LongLine {
  /// The line, with stand-ins for large texts.
  private(set) var bytes: [UInt8] = []
  /// Where the next byte is in the file.
  private(set) var offset: Int

  /// By how many bytes the line in the file is longer, from each index on.
  private(set) var shifts: [(index: Int, count: Int)] = []

  private let file: StoreFile
  private let large: LargeTexts<LargeText>
  private var state = State.outside
  /// Where the last stand-in is in ``bytes``, and its text, until it is known to be no name.
  private var lastLarge: (range: Range<Int>, text: LargeText)?

  private enum State {
    case outside
    /// A text that has only characters of Base64 so far; its first byte is at an offset in the file,
    /// and would be at an index of ``LongLine/bytes``.
    case plain(start: Int, index: Int, isEscaped: Bool)
    /// Any other text.
    case text(isEscaped: Bool)
  }

  /// Begins a line at an offset.
  init(_ file: StoreFile, from offset: Int, _ large: LargeTexts<LargeText>) {
    (self.file, self.offset, self.large) = (file, offset, large)
  }

  /// Adds bytes up to the end of the line.
  ///
  /// - Returns: where the next line begins in the piece; nil if the line has not ended.
  mutating func append(_ piece: [UInt8]) throws -> Int? {
    for (index, byte) in piece.enumerated() {
      if byte == UInt8(ascii: "\n") {
        _ = try finish()
        offset += 1
        return index + 1
      }
      try append(byte)
      offset += 1
    }
    return nil
  }

  /// Ends the line.
  mutating func finish() throws -> [UInt8] {
    if case .plain(let start, let index, _) = state { try restore(start, index) }
    state = .outside
    return bytes
  }

  private mutating func append(_ byte: UInt8) throws {
    switch state {
    case .outside: try appendOutside(byte)
    case .plain(let start, let index, let isEscaped):
      try appendPlain(byte, start, index, isEscaped: isEscaped)
    case .text(let isEscaped):
      bytes.append(byte)
      if byte == UInt8(ascii: "\""), !isEscaped {
        state = .outside
      } else {
        state = .text(isEscaped: byte == UInt8(ascii: "\\") && !isEscaped)
      }
    }
  }

  private mutating func appendOutside(_ byte: UInt8) throws {
    if byte == UInt8(ascii: ":") {
      try restoreName()
    } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
      lastLarge = nil
    }
    bytes.append(byte)
    if byte == UInt8(ascii: "\"") {
      state = .plain(start: offset + 1, index: bytes.count, isEscaped: false)
    }
  }

  private mutating func appendPlain(
    _ byte: UInt8, _ start: Int, _ index: Int, isEscaped: Bool
  ) throws {
    if byte == UInt8(ascii: "\""), !isEscaped { return try endPlain(start, index) }
    let isPlain = isEscaped ? byte == UInt8(ascii: "/") : byte.isOfBase64 || byte == 0x5C
    guard isPlain else {
      try restore(start, index)
      state = .text(isEscaped: false)
      // It is after a backslash or a character of its own, and neither ends the text.
      bytes.append(byte)
      return
    }
    state = .plain(start: start, index: index, isEscaped: byte == 0x5C)
    let count = offset - start
    if count < LargeText.minimumByteCount {
      bytes.append(byte)
    } else if count == LargeText.minimumByteCount {
      bytes.removeSubrange(index...)
    }
  }

  private mutating func endPlain(_ start: Int, _ index: Int) throws {
    if offset - start > LargeText.minimumByteCount {
      let text = LargeText(file: file, range: start..<offset)
      bytes += large.standIn(for: text).utf8
      lastLarge = (index..<bytes.count, text)
      shifts.append((bytes.count, text.range.count - (bytes.count - index)))
    }
    bytes.append(UInt8(ascii: "\""))
    state = .outside
  }

  /// Brings back what was left out of a text that turns out to be none that is left out.
  private mutating func restore(_ start: Int, _ index: Int) throws {
    guard offset - start > LargeText.minimumByteCount else { return }
    bytes.removeSubrange(index...)
    var position = start
    while position < offset {
      let piece = try file.read(offset - position, at: position)
      if piece.isEmpty { break }
      bytes += piece
      position += piece.count
    }
  }

  /// Brings back a name: only values may be large.
  private mutating func restoreName() throws {
    guard let (range, text) = lastLarge else { return }
    bytes.replaceSubrange(range, with: try text.text().utf8)
    lastLarge = nil
    shifts.removeLast()
  }
}

extension UInt8 {
  /// Whether it is a character of Base64.
  fileprivate var isOfBase64: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
      UInt8(ascii: "="):
      true
    default: false
    }
  }
}
