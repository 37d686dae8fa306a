import StoreEngine

extension SyncAnswer {
  /// The bytes of the answer; a stream follows those of ``history``.
  var bytes: [UInt8] { bytes(in: SyncFormat.version) }

  /// The bytes of the answer to a request of a version.
  func bytes(in version: UInt16) -> [UInt8] {
    switch self {
    case .joined(let leases):
      SyncFormat.message(SyncFormat.answerMagic, 1, in: version) { buffer in
        buffer.writeCount(leases.count)
        for lease in leases {
          buffer.write(lease.className)
          buffer.write(lease.rows.lowerBound)
          buffer.write(lease.rows.upperBound)
        }
      }
    case .history: SyncFormat.message(SyncFormat.answerMagic, 2, in: version) { _ in }
    case .accepted(let position):
      SyncFormat.message(SyncFormat.answerMagic, 3, in: version) { position.encode(to: &$0) }
    case .behind: SyncFormat.message(SyncFormat.answerMagic, 4, in: version) { _ in }
    case .failed(let code, let message):
      SyncFormat.message(SyncFormat.answerMagic, 5, in: version) { buffer in
        buffer.write(code)
        buffer.write(message)
      }
    case .stored(let counts):
      SyncFormat.message(SyncFormat.answerMagic, 6, in: version) { buffer in
        buffer.writeCount(counts.count)
        for count in counts { buffer.write(UInt64(count)) }
      }
    case .values(let parts, let missing):
      SyncFormat.message(SyncFormat.answerMagic, 7, in: version) { buffer in
        buffer.write(parts)
        buffer.writeCount(missing.count)
        for reference in missing { buffer.write(reference) }
      }
    }
  }

  /// Reads an answer.
  init(_ bytes: [UInt8]) throws(DataBufferError) {
    var (kind, buffer) = try SyncFormat.content(of: bytes, SyncFormat.answerMagic)
    switch kind {
    case 1:
      var leases: [RowLease] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: 12)) {
        let name = try buffer.readString()
        let start = buffer.offset
        let (first, last) = (try buffer.readUInt32(), try buffer.readUInt32())
        guard first > ClassMetadata.rowID, first <= last else {
          throw DataBufferError(.invalidValue, at: start, "no range of row IDs")
        }
        leases.append(RowLease(className: name, rows: first...last))
      }
      self = .joined(leases)
    case 2: self = .history
    case 3: self = .accepted(try HistoryPosition(from: &buffer))
    case 4: self = .behind
    case 5: self = .failed(code: try buffer.readString(), message: try buffer.readString())
    case 6:
      var counts: [Int] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
        counts.append(Int(clamping: try buffer.readUInt64()))
      }
      self = .stored(counts)
    case 7:
      let parts = try buffer.readParts()
      var missing: [ExternalReference] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: 28)) {
        missing.append(try buffer.readReference())
      }
      self = .values(parts, missing: missing)
    default: throw DataBufferError(.invalidValue, at: 6, "no kind of answer")
    }
    try SyncFormat.checkEnd(of: buffer)
  }
}
