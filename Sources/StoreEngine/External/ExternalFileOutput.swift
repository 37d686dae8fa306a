import Files
import Locks

/// The file of a value that is being written.
final class ExternalFileOutput: ExternalOutput {
  private let id: ExternalID
  private let file: NewFile
  private let sealing: Sealing?
  private let isSynced: Bool
  private let progress = Locked(Progress())

  private struct Progress {
    var chunkCount = 0
    var byteCount = 0
    var isFinished = false
  }

  init(_ id: ExternalID, _ file: NewFile, sealing: Sealing?, isSynced: Bool) {
    (self.id, self.file, self.sealing, self.isSynced) = (id, file, sealing, isSynced)
  }

  deinit {
    if !progress.withLock({ $0.isFinished }) { try? removeFile(file.location) }
  }

  func append(_ chunk: [UInt8]) throws {
    let number = progress.withLock { $0.chunkCount }
    let stored = try ExternalFileFormat.stored(chunk, number, of: id, sealing)
    let offset = ExternalFileFormat.offset(
      of: number, overhead: ExternalFileFormat.overhead(sealing))
    try systemErrors(at: file.location.path) { try file.write(stored, at: offset) }
    progress.withLock { progress in
      progress.chunkCount += 1
      progress.byteCount += chunk.count
    }
  }

  func finish() throws {
    let byteCount = progress.withLock { $0.byteCount }
    try systemErrors(at: file.location.path) {
      try file.write(
        ExternalFileFormat.head(id, byteCount: byteCount, isSealed: sealing != nil), at: 0)
      if isSynced { try file.synchronize() }
    }
    progress.withLock { $0.isFinished = true }
  }
}
