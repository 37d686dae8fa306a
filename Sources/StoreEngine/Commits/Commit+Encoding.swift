import Files
import FoundationEssentials

// The encoding of a commit in the log and the manifest:
//
//     number (8), token (16), microseconds since 1970 (8), number that it is based on, or FF…FF for
//     none (8), author (count + UTF-8)

extension Commit {
  /// Appends the commit to a buffer.
  func encode(to buffer: inout DataBuffer) { encode(to: &buffer.storage) }

  /// Appends the commit to bytes.
  func encode(to bytes: inout [UInt8]) {
    var integers = IntegerBytes()
    integers.add(number)
    integers.add(rawToken.high.byteSwapped)
    integers.add(rawToken.low.byteSwapped)
    integers.add(microseconds ?? .min)
    integers.add(basedOn ?? .max)
    integers.add(UInt32(author.utf8.count))
    bytes.append(integers)
    // Most commits have no author.
    if !author.isEmpty { author.lendUTF8 { bytes.append(copying: $0) } }
  }

  /// Returns encoded bytes with the number inserted at the beginning, where ``encode(to:)`` left it
  /// open.
  func numbering(_ encoded: [UInt8]) -> [UInt8] {
    var encoded = encoded
    for index in 0..<8 { encoded[index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
    return encoded
  }

  /// Decodes the bytes that ``encode(to:)`` has written.
  init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    let number = try buffer.readUInt64()
    guard number > 0 else {
      throw DataBufferError(.invalidValue, at: offset, "a commit has no number")
    }
    let token = CommitToken(
      high: try buffer.readUInt64().byteSwapped, low: try buffer.readUInt64().byteSwapped)
    let (microseconds, basedOn) = (try buffer.readInt64(), try buffer.readUInt64())
    self.init(
      number: number, token: token, author: try buffer.readString(),
      microseconds: microseconds == .min ? nil : microseconds,
      basedOn: basedOn == .max ? nil : basedOn)
  }

  /// Decodes the commit at the beginning of a batch.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  init(payload: [UInt8]) throws(StoreError) {
    var buffer = DataBuffer(payload)
    do throws(DataBufferError) {
      try self.init(from: &buffer)
    } catch {
      throw .inSave(error)
    }
  }

  /// Creates a commit of a version that recorded only its number.
  package init(unnamed number: UInt64) {
    self.init(number: number, token: CommitToken.zero, author: "", microseconds: nil, basedOn: nil)
  }
}
