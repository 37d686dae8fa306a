import Foundation

@testable import StoreEngine

/// The saves in a commit log, to be moved by somebody who knows the format and not the key.
struct LogBatches {
  typealias Batch = (header: CommitLogFormat.BatchHeader, payload: [UInt8])

  var batches: [Batch] = []
  private let url: URL
  private var bytes: [UInt8]

  init(_ directory: String) throws {
    url = URL(fileURLWithPath: directory + "/Commit.log")
    bytes = [UInt8](try Data(contentsOf: url))
    var offset = CommitLogFormat.firstBatch
    while offset + CommitLogFormat.batchHeaderSize <= bytes.count {
      let start = offset + CommitLogFormat.batchHeaderSize
      guard let (header, checksum) = CommitLogFormat.BatchHeader.read(Array(bytes[offset..<start])),
        header.length > 0, header.length <= bytes.count - start
      else { return }
      let payload = Array(bytes[start..<start + Int(header.length)])
      guard header.checksum([payload], .reversedWords) == checksum else { return }
      batches.append((header, payload))
      offset = CommitLogFormat.end(ofBatchAt: offset, payload: payload.count)
    }
  }

  /// Writes the batches in order, with new numbers and right checksums.
  mutating func write() throws {
    bytes.replaceSubrange(
      CommitLogFormat.firstBatch...,
      with: [UInt8](repeating: 0, count: bytes.count - CommitLogFormat.firstBatch))
    var offset = CommitLogFormat.firstBatch
    for (number, batch) in batches.enumerated() {
      var header = batch.header
      (header.length, header.sequence) = (UInt64(batch.payload.count), UInt64(number))
      let written = header.bytes(before: [batch.payload], .reversedWords) + batch.payload
      bytes.replaceSubrange(offset..<offset + written.count, with: written)
      offset = CommitLogFormat.end(ofBatchAt: offset, payload: batch.payload.count)
    }
    try Data(bytes).write(to: url)
  }
}
