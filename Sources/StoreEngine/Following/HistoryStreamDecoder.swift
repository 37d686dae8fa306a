import Files

/// Decodes a stream of history entries, in parts of any size.
///
///     decoder.append(bytes)
///     while let element = try decoder.next() { ... }
///     try decoder.finish()
///
/// Memory: the largest frame. A frame whose head states a size above the maximum of its kind is
/// refused before its payload arrives.
package struct HistoryStreamDecoder: Sendable {
  package enum Element: Sendable, Equatable {
    /// The position after which the stream begins.
    case header(HistoryPosition)
    case frame(HistoryStreamFrame)
  }

  private var bytes: [UInt8] = []
  /// The offset of the next element in `bytes`.
  private var start = 0
  /// The number of bytes of the stream before `bytes`.
  private var passedCount = 0
  private var checksum = CRC32C()
  private var hasHeader = false
  private var failure: StoreError?
  /// The name of the file or of the sender, for errors.
  private let source: String

  package init(_ source: String) { self.source = source }

  /// Appends the next bytes of the stream.
  package mutating func append(_ new: [UInt8]) {
    if start > 0 {
      passedCount += start
      bytes.removeFirst(start)
      start = 0
    }
    bytes += new
  }

  /// Returns the next element; nil if its bytes are not complete yet.
  ///
  /// - Throws: ``StoreError`` with `damaged`; each later call throws the same error.
  package mutating func next() throws(StoreError) -> Element? {
    if let failure { throw failure }
    do {
      return try hasHeader ? nextFrame().map(Element.frame) : nextHeader().map(Element.header)
    } catch {
      let found = StoreError(
        .damaged, "The stream is invalid: \(error.message). Read it again from its source.",
        at: .init(path: source, offset: passedCount + start + error.offset), underlying: error)
      failure = found
      throw found
    }
  }

  /// Checks that the stream is complete.
  ///
  /// - Throws: ``StoreError`` with `ioError` if the stream was cut off.
  package func finish() throws(StoreError) {
    if let failure { throw failure }
    guard hasHeader || start < bytes.count || passedCount + start == 0 else { return }
    throw StoreError(
      .ioError,
      """
      The stream was cut off. All commits before the cut are applied. Continue with a stream after \
      the last of them.
      """,
      at: .init(path: source, offset: passedCount + bytes.count))
  }

  private mutating func nextHeader() throws(DataBufferError) -> HistoryPosition? {
    let (magic, count) = (HistoryStreamFormat.magic, HistoryStreamFormat.headerByteCount)
    guard magic.starts(with: bytes[start...].prefix(magic.count)) else {
      throw DataBufferError(.invalidValue, at: 0, "it is not a stream of history entries")
    }
    guard bytes.count - start >= count else { return nil }
    checksum = CRC32C()
    try check(count)
    var buffer = DataBuffer(Array(bytes[start + magic.count..<start + count]))
    guard try buffer.readUInt32() == HistoryStreamFormat.version else {
      throw DataBufferError(.invalidValue, at: 8, "written by a later version of this library")
    }
    let position = try HistoryPosition(from: &buffer)
    start += count
    hasHeader = true
    return position
  }

  private mutating func nextFrame() throws(DataBufferError) -> HistoryStreamFrame? {
    let headCount = HistoryStreamFormat.frameHeadByteCount
    guard bytes.count - start >= headCount else { return nil }
    guard let kind = HistoryStreamFormat.Kind(rawValue: bytes[start]) else {
      throw DataBufferError(.invalidValue, at: 0, "unknown kind of frame")
    }
    var head = DataBuffer(Array(bytes[start + 1..<start + headCount]))
    let count = Int(try head.readUInt32())
    guard count <= kind.maximumByteCount else {
      throw DataBufferError(.invalidValue, at: 1, "\(count) bytes are too many for this frame")
    }
    let byteCount = headCount + count + HistoryStreamFormat.checksumByteCount
    guard bytes.count - start >= byteCount else { return nil }
    try check(byteCount)
    let payload = Array(bytes[start + headCount..<start + headCount + count])
    let frame: HistoryStreamFrame
    do {
      frame = try HistoryStreamFrame(kind, payload)
    } catch { throw DataBufferError(error.code, at: headCount + error.offset, error.message) }
    start += byteCount
    if kind == .end { hasHeader = false }
    return frame
  }

  /// Checks the checksum of the next bytes.
  private mutating func check(_ count: Int) throws(DataBufferError) {
    let end = start + count - HistoryStreamFormat.checksumByteCount
    var found = checksum
    found.update(bytes.span.extracting(start..<end))
    checksum = found
    var expected = DataBuffer(Array(bytes[end..<start + count]))
    guard try expected.readUInt32() == found.value else {
      throw DataBufferError(
        .invalidValue, at: end - start,
        "the checksum is wrong, so bytes were changed, left out, repeated or moved")
    }
  }
}
