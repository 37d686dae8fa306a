import StoreEngine

/// A long line of a JSON file, without its large texts.
///
/// This is not a parser: it only finds where texts begin and end.
struct LongLine {
  /// The line, with placeholders for large texts.
  private(set) var bytes: [UInt8] = []
  /// The offset of the next byte in the file.
  private(set) var offset: Int

  /// The number of bytes that the line is longer in the file, from each index on.
  private(set) var shifts: [(index: Int, count: Int)] = []

  private let file: StoreFile
  private let large: LargeTexts<LargeText>
  private var state = State.outside
  /// The range of the last placeholder in ``bytes``, and its text, while it may still be a name.
  private var lastLarge: (range: Range<Int>, text: LargeText)?

  private enum State {
    case outside
    /// A text with only Base64 characters so far.
    ///
    /// `start` is the offset of its first byte in the file, and `index` is where that byte belongs
    /// in ``LongLine/bytes``.
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
  /// - Returns: The index of the next line in the piece, or nil if the line has not ended.
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
      // The byte follows a backslash or is an ordinary character, so it does not end the text.
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

  /// Restores the bytes of a text that was taken for a large one.
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

  /// Restores a name: only values may be large.
  private mutating func restoreName() throws {
    guard let (range, text) = lastLarge else { return }
    bytes.replaceSubrange(range, with: try text.text().utf8)
    lastLarge = nil
    shifts.removeLast()
  }
}

extension UInt8 {
  /// Whether the byte is a Base64 character.
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
