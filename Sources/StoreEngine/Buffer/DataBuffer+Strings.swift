import Files
public import FoundationEssentials

extension DataBuffer {
  /// Writes a string: the number of its UTF-8 bytes as `UInt32`, then the bytes, including any NUL.
  ///
  /// Complexity: linear in the number of bytes.
  public mutating func write(_ value: String) {
    if recorder == nil { return append(value) }
    recording(.string) { $0.append(value) }
  }

  private mutating func append(_ value: String) {
    value.lendUTF8 { bytes in
      writeCount(bytes.byteCount)
      storage.append(copying: bytes)
    }
  }

  /// Reads a string.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd` or `invalidUTF8`.
  @inlinable public mutating func readString() throws(DataBufferError) -> String {
    let count = try readCount(minimumElementSize: 1)
    let text = try decodeUTF8(count)
    position += count
    return text
  }

  @inlinable @inline(__always)
  func decodeUTF8(_ count: Int) throws(DataBufferError) -> String {
    let bytes = storage.span.extracting(position..<position + count)
    if count <= 15, let text = String(shortASCII: bytes) { return text }
    do {
      return String(copying: try UTF8Span(validating: bytes))
    } catch {
      throw invalidUTF8(after: error.byteOffsets.lowerBound)
    }
  }

  @usableFromInline func invalidUTF8(after count: Int) -> DataBufferError {
    DataBufferError(.invalidUTF8, at: offset + count, "this byte of a string is not UTF-8")
  }

  /// Writes bytes: their number as `UInt32`, then the bytes.
  ///
  /// Complexity: linear in the number of bytes.
  @inlinable public mutating func write(_ value: [UInt8]) {
    writing([UInt8].storedType) { buffer in
      buffer.writeCount(value.count)
      buffer.storage.append(contentsOf: value)
    }
  }

  /// Writes data: the number of its bytes as `UInt32`, then the bytes.
  ///
  /// Complexity: linear in the number of bytes.
  public mutating func write(_ value: Data) {
    writing(.data) { $0.append(value) }
  }

  private mutating func append(_ value: Data) {
    writeCount(value.count)
    // Reserves room for what follows, so that a value larger than everything before it is not
    // copied again.
    if value.count >= 1 << 20, value.count > storage.count {
      storage.reserveCapacity(storage.count + value.count + 1 << 16)
    }
    storage.append(contentsOf: value)
  }

  /// Reads bytes that follow their count.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `countBeyondEnd`.
  @inlinable public mutating func readBytes() throws(DataBufferError) -> [UInt8] {
    let count = try readCount(minimumElementSize: 1)
    defer { position += count }
    return Array(storage[position..<position + count])
  }

  /// Reads data.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `countBeyondEnd`.
  public mutating func readData() throws(DataBufferError) -> Data {
    let count = try readCount(minimumElementSize: 1)
    defer { position += count }
    return Data(storage[position..<position + count])
  }
}
