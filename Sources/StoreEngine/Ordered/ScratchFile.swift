import Files
import Locks

/// A temporary file beside the store's files, written once and read once, both sequentially.
///
///     block    | size (4) | checksum (4) | bytes, sealed in an encrypted store |
///
/// If a process dies, the file remains, and the next opening for writing removes it.
package struct ScratchFile {
  /// The prefix of the names of temporary files.
  package static let prefix = StoreDirectory.newPrefix + "scratch-"

  let name: String
  private let directory: StoreDirectory
  private let codec: (any OrderedPageCodec)?
  private let sink: NewOrderedFile
  private var offset = 0
  /// The number of bytes written.
  package var byteCount: Int { offset }

  package init(
    _ name: String, in directory: StoreDirectory, codec: (any OrderedPageCodec)?
  ) throws(StoreError) {
    (self.name, self.directory, self.codec) = (name, directory, codec)
    sink = try systemErrors(at: directory.path) {
      // It has the permissions of the log.
      try NewOrderedFile(name, in: directory, replacing: StoreDirectory.log)
    }
  }

  /// Appends a block.
  package mutating func write(_ block: [UInt8]) throws(StoreError) {
    let stored = try codec?.seal(block, at: offset) ?? block
    var bytes: [UInt8] = []
    bytes.reserveCapacity(stored.count + OrderedFileFormat.pageHeadSize)
    bytes.append(littleEndian: UInt32(clamping: stored.count))
    bytes.append(littleEndian: OrderedFileFormat.checksum(stored.span, at: offset))
    bytes += stored
    try systemErrors(at: directory.path) { try sink.write(bytes) }
    offset += bytes.count
  }

  /// Begins to read what has been written.
  package func reader() throws(StoreError) -> Reader {
    try systemErrors(at: directory.path) {
      try sink.finish(isSynced: false)
      guard let file = try directory.map(name) else {
        throw StoreError(.ioError, "A temporary file is gone.", at: .init(path: directory.path))
      }
      file.expect(.sequential)
      return Reader(file: file, codec: codec)
    }
  }

  /// Removes the file.
  package func remove() { directory.remove(name) }

  /// A reader of the blocks, in the order of writing.
  package struct Reader {
    fileprivate let file: MappedFile
    fileprivate let codec: (any OrderedPageCodec)?
    private var offset = 0

    fileprivate init(file: MappedFile, codec: (any OrderedPageCodec)?) {
      (self.file, self.codec) = (file, codec)
    }

    /// Returns the next block; nil at the end.
    ///
    /// - Throws: ``StoreError`` with `ioError` if the disk does not return the bytes that were
    ///   written.
    package mutating func next() throws(StoreError) -> [UInt8]? {
      let head = OrderedFileFormat.pageHeadSize
      guard offset + head <= file.count else { return nil }
      let start = offset
      let size = file.withBytes { Int($0.loadUInt32(at: start, isBigEndian: false)) }
      guard size <= file.count - start - head else { throw spoilt }
      let block: [UInt8]? = try file.withBytes { (bytes) throws(StoreError) in
        let stored = bytes.extracting(start + head..<start + head + size)
        let checksum = OrderedFileFormat.checksum(Span<UInt8>(_bytes: stored), at: start)
        guard bytes.loadUInt32(at: start + 4, isBigEndian: false) == checksum else { return nil }
        return try codec?.open(stored, at: start) ?? [UInt8](copying: stored)
      }
      guard let block else { throw spoilt }
      offset = start + head + size
      // The part that has been read needs no memory any more.
      file.release(start & ~0xFFFF..<offset)
      return block
    }

    private var spoilt: StoreError {
      StoreError(
        .ioError, "A temporary file does not have the bytes that were written to it: try again.",
        at: .init(path: file.path, offset: offset))
    }
  }
}

/// A backend that can replace an ordered table of any size in one commit, in bounded memory.
package protocol OrderedRebuilding: AnyObject {
  /// Creates a temporary file with a number that the caller chooses.
  func makeScratchFile(_ number: Int) throws(StoreError) -> ScratchFile

  /// Replaces all keys of a table by those that a closure appends in ascending order.
  ///
  /// Like a commit, it is all or nothing, and as durable. Commits wait meanwhile.
  func replaceKeys(
    of table: OrderedTableID, _ body: (inout OrderedFileWriter) throws(StoreError) -> Void
  ) throws(StoreError)
}

extension LoggedBackend: OrderedRebuilding {
  package func makeScratchFile(_ number: Int) throws(StoreError) -> ScratchFile {
    try checkProcess()
    try checkOpen()
    return try files.ordered.makeScratchFile(number)
  }

  package func replaceKeys(
    of table: OrderedTableID, _ body: (inout OrderedFileWriter) throws(StoreError) -> Void
  ) throws(StoreError) {
    try checkProcess()
    try log.withLock { (log) throws(StoreError) in
      try checkOpen()
      try checkWritable(log)
      try naming { () throws(StoreError) in
        // The pending keys are older than the new file, but would take precedence over it.
        try checkpoint(&log)
        let replacement = try files.ordered.prepare(
          table, mark: mark(log), durability: durability, body)
        do throws(StoreError) {
          // The log will name the new file, so it must exist after a power cut.
          if durability != .none { try files.synchronizeNames() }
        } catch {
          files.discard([replacement])
          throw error
        }
        let request = CommitRequest()
        let commit = request.commit(
          number: coordinator.journal.lastNumber + 1, token: coordinator.journal.newToken())
        try install([replacement], of: commit, emptied: [], &log)
        var changes = ChangeSet()
        changes.clear(table)
        coordinator.didCommit(commit, changes, request)
      }
    }
  }
}
