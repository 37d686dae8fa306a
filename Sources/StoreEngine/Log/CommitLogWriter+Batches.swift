import Files

// The bytes of batches in the log.
extension CommitLogWriter {
  func count(_ batch: Batch) -> Int { batch.payload.reduce(0) { $0 + $1.count } }

  /// Returns the header of one of several batches.
  ///
  /// Only the first is marked as synced, together with everything before it. Of the others a power
  /// cut may leave a later one without an earlier one.
  private func header(of batch: Batch, at index: Int) -> CommitLogFormat.BatchHeader {
    CommitLogFormat.BatchHeader(
      length: UInt64(count(batch)), epoch: epoch, sequence: sequence + UInt64(index),
      kind: batch.kind.rawValue, isSynced: index == 0 && isSynced(batch.kind))
  }

  func bytes(of batches: [Batch], upTo end: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(end - offset)
    for (index, batch) in batches.enumerated() {
      let next = CommitLogFormat.end(ofBatchAt: offset + bytes.count, payload: count(batch))
      header(of: batch, at: index).append(batch.payload, to: &bytes, slot.checksums)
      while offset + bytes.count < next { bytes.append(0) }
    }
    assert(offset + bytes.count == end, "batches have another size than was planned")
    return bytes
  }

  func writePieces(of batches: [Batch]) throws(StoreError) {
    var position = offset
    for (index, batch) in batches.enumerated() {
      let next = CommitLogFormat.end(ofBatchAt: position, payload: count(batch))
      let header = header(of: batch, at: index).bytes(before: batch.payload, slot.checksums)
      for piece in [header] + batch.payload {
        try storage.write(piece, at: position)
        position += piece.count
      }
      assert(position <= next, "a batch is larger than was planned")
      try storage.write([UInt8](repeating: 0, count: next - position), at: position)
      position = next
    }
  }

  /// Whether a batch must be on the disk before anything else happens.
  ///
  /// After a power cut there must be no files of a checkpoint if the log has only some of their
  /// saves: replaying these would undo later ones.
  func isSynced(_ kind: CommitLogFormat.Kind) -> Bool {
    durability == .full || durability == .process && kind.isCheckpoint
  }
}
