import Files

/// Encodes a stream of history entries.
struct HistoryStreamEncoder: Sendable {
  private var checksum = CRC32C()

  /// Appends the header of a stream that begins after a position.
  init(behind position: HistoryPosition, to bytes: inout [UInt8]) {
    var buffer = DataBuffer()
    buffer.write(HistoryStreamFormat.version)
    position.encode(to: &buffer)
    let start = bytes.count
    bytes += HistoryStreamFormat.magic
    bytes += buffer.bytes
    addChecksum(from: start, to: &bytes)
  }

  /// Appends a frame.
  mutating func append(_ frame: HistoryStreamFrame, to bytes: inout [UInt8]) {
    let (start, payload) = (bytes.count, frame.payload)
    bytes.reserveCapacity(start + payload.count + 16)
    bytes.append(frame.kind.rawValue)
    bytes.append(littleEndian: UInt32(payload.count))
    bytes += payload
    addChecksum(from: start, to: &bytes)
  }

  private mutating func addChecksum(from start: Int, to bytes: inout [UInt8]) {
    checksum.update(bytes.span.extracting(start..<bytes.count))
    bytes.append(littleEndian: checksum.value)
  }
}
