import Files
import Locks

/// The file of an external value that is being written.
final class ExternalFileOutput: ExternalOutput {
  private let id: ExternalID
  private let file: NewFile
  private let sealing: Sealing?
  private let isSynced: Bool
  private let progress = Locked(Progress())

  private struct Progress {
    var chunkCount = 0
    var byteCount = 0
    /// The stored first chunk, until there is a second one.
    ///
    /// So a small value is written by one call.
    var first: [UInt8]?
    var isFinished = false
  }

  init(_ id: ExternalID, _ file: NewFile, sealing: Sealing?, isSynced: Bool) {
    (self.id, self.file, self.sealing, self.isSynced) = (id, file, sealing, isSynced)
  }

  deinit {
    if !progress.withLock({ $0.isFinished }) { try? removeFile(file.location) }
  }

  func append(_ chunk: [UInt8]) throws(StoreError) {
    let number = progress.withLock { $0.chunkCount }
    let stored = try ExternalFileFormat.stored(chunk, number, of: id, sealing)
    if number > 0 {
      if let first = takeFirst() { try write(first, 0) }
      try write(stored, number)
    }
    progress.withLock { progress in
      if number == 0 { progress.first = stored }
      progress.chunkCount += 1
      progress.byteCount += chunk.count
    }
  }

  private func write(_ stored: [UInt8], _ number: Int) throws(StoreError) {
    let offset = ExternalFileFormat.offset(
      of: number, overhead: ExternalFileFormat.overhead(sealing))
    try systemErrors(at: file.location.path) { try file.write(stored, at: offset) }
  }

  private func takeFirst() -> [UInt8]? { progress.withLock { $0.first.take() } }

  func finish() throws(StoreError) {
    let byteCount = progress.withLock { $0.byteCount }
    let head = ExternalFileFormat.head(id, byteCount: byteCount, isSealed: sealing != nil)
    try systemErrors(at: file.location.path) {
      try file.write(head + (takeFirst() ?? []), at: 0)
      if isSynced { try file.synchronize() }
    }
    progress.withLock { $0.isFinished = true }
  }
}
