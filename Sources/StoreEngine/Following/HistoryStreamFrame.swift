/// A part of a stream of history entries.
package enum HistoryStreamFrame: Sendable, Equatable {
  /// An encoded entry, and the last commit before the history of the source.
  case entry([UInt8], since: UInt64)
  /// A part of a value outside of records.
  ///
  /// All parts come in order, before the entry that first refers to the value.
  case value(ExternalReference, offset: Int, [UInt8])
  /// A value that the stream does not have.
  ///
  /// The next entry refers to it. The source no longer has it, and a later entry removes it; or the
  /// receiver gets it in another way.
  case missingValue(ExternalReference)
  /// The last commit of the source and the current time.
  case heartbeat(number: UInt64, microseconds: Int64)
  /// Records, buffers and keys of a copy, encoded as an entry.
  case copyPart([UInt8])
  /// The end of a complete copy, with its last commit.
  case copyEnd(Commit)
  /// The end of a complete stream.
  case end

  var kind: HistoryStreamFormat.Kind {
    switch self {
    case .entry: .entry
    case .value: .value
    case .missingValue: .missingValue
    case .heartbeat: .heartbeat
    case .copyPart: .copyPart
    case .copyEnd: .copyEnd
    case .end: .end
    }
  }

  /// The bytes between the head of the frame and its checksum.
  var payload: [UInt8] {
    var buffer = DataBuffer()
    switch self {
    case .entry(let bytes, let since):
      buffer.write(since)
      buffer.append(bytes)
    case .value(let reference, let offset, let bytes):
      buffer.write(reference)
      buffer.write(UInt64(offset))
      buffer.append(bytes)
    case .missingValue(let reference): buffer.write(reference)
    case .heartbeat(let number, let microseconds):
      buffer.write(number)
      buffer.write(microseconds)
    case .copyPart(let bytes): return bytes
    case .copyEnd(let commit): commit.encode(to: &buffer)
    case .end: break
    }
    return buffer.bytes
  }

  /// Decodes the payload of a frame.
  init(_ kind: HistoryStreamFormat.Kind, _ payload: [UInt8]) throws(DataBufferError) {
    var buffer = DataBuffer(payload)
    switch kind {
    case .entry:
      let since = try buffer.readUInt64()
      self = .entry(Array(buffer.rest), since: since)
      buffer.skipRemaining()
    case .value:
      let reference = try buffer.readReference()
      let start = buffer.offset
      let (offset, bytes) = (try buffer.readUInt64(), Array(buffer.rest))
      guard offset <= UInt64(reference.byteCount),
        bytes.count <= reference.byteCount - Int(offset), !bytes.isEmpty || reference.byteCount == 0
      else {
        throw DataBufferError(.invalidValue, at: start, "a part is outside of its value")
      }
      self = .value(reference, offset: Int(offset), bytes)
      buffer.skipRemaining()
    case .missingValue: self = .missingValue(try buffer.readReference())
    case .heartbeat:
      let number = try buffer.readUInt64()
      self = .heartbeat(number: number, microseconds: try buffer.readInt64())
    case .copyPart:
      self = .copyPart(payload)
      buffer.skipRemaining()
    case .copyEnd: self = .copyEnd(try Commit(from: &buffer))
    case .end: self = .end
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "the frame should end here")
    }
  }
}

extension DataBuffer {
  /// Writes a reference in 28 bytes: the identifier, the size and the checksum.
  package mutating func write(_ reference: ExternalReference) {
    append(reference.id.bytes)
    write(UInt64(reference.byteCount))
    write(reference.checksum)
  }

  /// Reads a reference.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `invalidValue`.
  package mutating func readReference() throws(DataBufferError) -> ExternalReference {
    let high = try readUInt64().byteSwapped
    let id = ExternalID(high: high, low: try readUInt64().byteSwapped)
    let start = offset
    let count = try readUInt64()
    guard count <= UInt64(ExternalFileFormat.maximumByteCount) else {
      throw DataBufferError(.invalidValue, at: start, "\(count) bytes are too many for a value")
    }
    return ExternalReference(id: id, byteCount: Int(count), checksum: try readUInt32())
  }
}
