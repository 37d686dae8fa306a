import Files

/// A reader of an external value, chunk by chunk, in constant memory.
///
///     var reader = try song.recording.reader()
///     while let chunk = try reader.next() { send(chunk) }
///
/// A reader stays valid when the value is replaced or removed.
public struct ExternalReader: Sendable {
  /// The size of the value.
  public let byteCount: Int
  /// The number of bytes that ``next()`` has returned.
  public private(set) var offset = 0

  private let source: Source
  private var checksum = CRC32C()

  private enum Source: Sendable {
    case memory([UInt8])
    case stored(any ExternalInput, ExternalReference)
  }

  /// Creates a reader of bytes in memory.
  package init(_ bytes: [UInt8]) { (source, byteCount) = (.memory(bytes), bytes.count) }

  package init(_ input: any ExternalInput, _ reference: ExternalReference) {
    (source, byteCount) = (.stored(input, reference), reference.byteCount)
  }

  /// Returns the next bytes, at most 64 KiB; nil at the end.
  ///
  /// Complexity: one read of at most 64 KiB, which are verified.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `notAuthentic`, `ioError` or `closed`.
  public mutating func next() throws(StoreError) -> [UInt8]? {
    guard offset < byteCount else { return nil }
    let chunk = try chunk(offset / ExternalChunks.size)
    offset += chunk.count
    guard case .stored(_, let reference) = source else { return chunk }
    checksum.update(chunk.span)
    if offset == byteCount, checksum.value != reference.checksum {
      throw StoreError(
        .damaged,
        "The value \(reference.id) is not the one that its object refers to: its checksum differs.")
    }
    return chunk
  }

  /// Reads a part of the value, independently of ``next()``.
  ///
  /// Complexity: linear in the part, plus two chunks.
  ///
  /// - Precondition: The range is inside of the value.
  /// - Throws: ``StoreError``, as ``next()`` does.
  public func bytes(in range: Range<Int>) throws(StoreError) -> [UInt8] {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "a part beyond the value")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var location = range.lowerBound
    while location < range.upperBound {
      let chunk = try chunk(location / ExternalChunks.size)
      let start = location % ExternalChunks.size
      let end = min(chunk.count, start + range.upperBound - location)
      bytes += chunk[start..<end]
      location += end - start
    }
    return bytes
  }

  private func chunk(_ number: Int) throws(StoreError) -> [UInt8] {
    switch source {
    case .memory(let bytes):
      let start = number * ExternalChunks.size
      return Array(bytes[start..<start + ExternalChunks.byteCount(of: number, in: byteCount)])
    case .stored(let input, _):
      do { return try input.chunk(number) } catch { throw .wrapping(error, .ioError, at: .init()) }
    }
  }

  /// Returns all bytes, verified by the checksum in the record.
  package consuming func readAll() throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    while let chunk = try next() { bytes += chunk }
    return bytes
  }
}
