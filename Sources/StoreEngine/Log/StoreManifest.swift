/// The required content of a store's directory: a small file that detects the loss of others.
///
///     "SO-Files" | version (4) | first epoch (8) | epoch (8) | 1 and the last commit, or 0 |
///     count (4) | name and mark (12) of each | checksum (4)
///
/// A log that was deleted or emptied by accident looks like that of a new store. A class whose file
/// is missing looks as if it had never been saved. With the manifest both are damage. It is created
/// after the log, and every checkpoint writes it after the files are in place. A store without a
/// manifest, such as one of BNRPersistence, has lost nothing.
///
/// Version 1 has neither epoch nor marks: its files may be of any moment. Version 2 has no commit.
package struct StoreManifest: Equatable, Sendable {
  /// The epoch of the log when the first manifest was created; each emptying of the log adds one.
  var firstEpoch: UInt64
  /// The epoch of the log that belongs to the marks; nil if it is unknown.
  private(set) var epoch: UInt64?
  /// The last commit in the files; nil if there was none, or none with a number.
  var lastCommit: Commit?
  /// The files of classes, named buffers and ordered tables, each with its mark.
  ///
  /// A file with nil may have any mark, or none.
  private var entries = SortedNames<FileMark?>()

  private static let magic = Array("SO-Files".utf8)
  private static let version: UInt32 = 3
  /// The maximum distance of epochs of one store.
  static let epochLimit: UInt64 = 1 << 40

  init(
    firstEpoch: UInt64, epoch: UInt64? = nil, lastCommit: Commit? = nil, files: [String] = []
  ) {
    (self.firstEpoch, self.epoch, self.lastCommit) = (firstEpoch, epoch, lastCommit)
    for name in files { add(name, nil) }
  }

  /// The names of the files, in order.
  var files: [String] { entries.names }

  /// Whether a file is listed.
  func lists(_ name: String) -> Bool { entries.contains(name) }

  /// Returns the mark that a file must have; nil if it may have any, or none.
  func mark(of name: String) -> FileMark? { entries[name] ?? nil }

  /// Sets the mark of a file.
  mutating func add(_ name: String, _ mark: FileMark?) { entries[name] = .some(mark) }

  /// Removes empty files, so that they may be deleted.
  mutating func remove(_ empty: [String]) { for name in empty { entries[name] = nil } }

  /// Adds the files of a checkpoint, and the epoch of the log after it.
  mutating func add(_ replacements: [Replacement], followedBy epoch: UInt64) {
    for replacement in replacements { add(replacement.name, replacement.mark) }
    self.epoch = epoch
  }

  /// Reads a manifest; nil if it is not valid.
  init?(_ bytes: [UInt8]) {
    guard bytes.count > Self.magic.count + 4, bytes.starts(with: Self.magic),
      let manifest = try? Self(checked: bytes)
    else { return nil }
    self = manifest
  }

  private init?(checked bytes: [UInt8]) throws(DataBufferError) {
    var buffer = DataBuffer(bytes)
    try buffer.skip(Self.magic.count)
    let version = try buffer.readUInt32()
    guard version >= 1, version <= Self.version else { return nil }
    let firstEpoch = try buffer.readUInt64()
    let epoch = version > 1 ? try buffer.readUInt64() : 0
    let hasCommit = version > 2 ? try buffer.readBool() : false
    self.init(
      firstEpoch: firstEpoch, epoch: epoch == 0 ? nil : epoch,
      lastCommit: hasCommit ? try Commit(from: &buffer) : nil)
    for _ in 0..<(try buffer.readCount(minimumElementSize: 4)) {
      let name = try buffer.readString()
      add(name, version > 1 ? try buffer.readMark() : nil)
    }
    let expected = CommitLogFormat.checksum(Array(bytes[..<buffer.offset]))
    guard try buffer.readUInt32() == expected, buffer.remainingCount == 0 else { return nil }
  }

  /// The content of the file.
  var bytes: [UInt8] {
    var buffer = DataBuffer(Self.magic)
    buffer.write(Self.version)
    buffer.write(firstEpoch)
    buffer.write(epoch ?? 0)
    buffer.write(lastCommit != nil)
    lastCommit?.encode(to: &buffer)
    buffer.writeCount(files.count)
    let none = [UInt8](repeating: 0, count: FileMark.byteCount)
    for name in files {
      buffer.write(name)
      buffer.append(mark(of: name)?.bytes ?? none)
    }
    buffer.write(CommitLogFormat.checksum(buffer.bytes))
    return buffer.bytes
  }

  /// Whether a log of this epoch can belong to the store of the manifest.
  private func isOfThisStore(_ epoch: UInt64) -> Bool {
    epoch >= firstEpoch && epoch - firstEpoch < Self.epochLimit
  }
}

extension DataBuffer {
  fileprivate mutating func readMark() throws(DataBufferError) -> FileMark? {
    let (epoch, number) = (try readUInt64(), try readUInt32())
    return epoch == 0 ? nil : FileMark(epoch: epoch, number: number)
  }
}

extension StoreManifest {
  /// Returns the error for a log that does not belong to a store with a manifest.
  ///
  /// Any manifest, even a damaged one, implies that there was a log.
  ///
  /// - Parameters:
  ///   - manifest: The manifest; nil if it is damaged.
  ///   - epoch: The epoch of the log; nil if there is none.
  ///   - firstEpoch: The epoch of the first earlier log that it may need; its own if there are
  ///     none.
  ///   - path: The directory.
  ///   - isCheckpointed: Whether the log has the record of a checkpoint, whose manifest may exist
  ///     already.
  /// - Returns: An error with `damaged`; nil if the log may belong to the store.
  static func lossOfLog(
    _ manifest: StoreManifest?, epoch: UInt64?, firstEpoch: UInt64? = nil, _ path: String,
    isCheckpointed: () -> Bool
  ) -> StoreError? {
    guard let epoch else {
      return StoreError(
        .damaged,
        """
        The commit log of this store is gone, or has been emptied: saves that were in no class \
        file yet are lost with it. Restore it from a backup, or salvage the store.
        """,
        at: .init(path: path))
    }
    guard let manifest else { return nil }
    let message: String
    if !manifest.isOfThisStore(epoch) {
      message = "The commit log belongs to another store, or to this one at another time."
    } else if let expected = manifest.epoch, firstEpoch ?? epoch > expected {
      message = "The commit log is newer than the store's manifest. \(FileMark.cure)"
    } else if let expected = manifest.epoch, epoch < expected,
      epoch + 1 < expected || !isCheckpointed()
    {
      message = "The commit log is older than the store's files. \(FileMark.cure)"
    } else {
      return nil
    }
    return StoreError(.damaged, message, at: .init(path: path))
  }
}

extension StoreManifest {
  /// Returns the finding that a manifest can't be read.
  static func spoilt(_ path: String) -> StoreFinding {
    StoreFinding(
      .fileDamaged,
      "The store's manifest is damaged. Open the store for writing to make a new one.",
      at: .init(path: path))
  }

  /// Returns the finding that a store lacks the manifest that it must have.
  static func gone(_ path: String) -> StoreFinding {
    StoreFinding(
      .fileDamaged,
      """
      The store's manifest is gone, so other missing files can't be noticed. Open the store for \
      writing to make a new one.
      """,
      at: .init(path: path))
  }
}

extension StoreManifest {
  /// Returns findings about the log, the manifest and the files in it, without opening the store.
  ///
  /// Marks are compared only if no checkpoint in the log may have put other files in place.
  ///
  /// - Parameters:
  ///   - bytes: The manifest; nil if there is none.
  ///   - log: The log on the disk; nil if there is none.
  ///   - path: The directory.
  ///   - hasFile: Returns whether a file exists.
  ///   - mark: Returns the mark of an existing file.
  /// - Returns: The findings; none for a store without a manifest.
  /// - Throws: ``StoreError`` of the closures.
  package static func findings(
    _ bytes: [UInt8]?, _ log: CommitLogScan?, path: String,
    hasFile: (String) throws(StoreError) -> Bool,
    mark: (String) throws(StoreError) -> FileMark?
  ) throws(StoreError) -> [StoreFinding] {
    guard let bytes else { return [] }
    var findings: [StoreFinding] = []
    let epoch = log.flatMap { $0.isBlank ? nil : $0.epoch }
    let isCheckpointed = log?.batches.contains(where: \.isCheckpoint) == true
    let manifest = StoreManifest(bytes)
    // A log without headers is a finding already.
    if log?.hasDamagedHeaders != true,
      let loss = lossOfLog(
        manifest, epoch: epoch, firstEpoch: log?.slot?.earlier?.firstEpoch, path,
        isCheckpointed: { isCheckpointed })
    {
      findings.append(StoreFinding(.log, loss))
    }
    guard let manifest else { return findings + [spoilt(path)] }
    let differences = try manifest.differences(in: path, hasFile: hasFile) {
      (name) throws(StoreError) in isCheckpointed ? nil : try mark(name)
    }
    findings += differences.missing.map {
      StoreFinding(.fileDamaged, StoreError.fileGone($0, in: path))
    }
    if isCheckpointed { return findings }
    return findings + differences.strangers.map { StoreFinding(.fileDamaged, $0) }
  }

  /// Returns the names of missing files, and an error for each file that exists but is not the
  /// store's own.
  func differences(
    in path: String, hasFile: (String) throws(StoreError) -> Bool,
    mark: (String) throws(StoreError) -> FileMark?
  ) throws(StoreError) -> (missing: [String], strangers: [StoreError]) {
    var (missing, strangers): ([String], [StoreError]) = ([], [])
    for name in neededFiles {
      let expected = self.mark(of: name)
      let found = try expected == nil ? nil : mark(name)
      // A file with the expected mark exists, without another look at the directory.
      if let expected, found == expected { continue }
      guard try hasFile(name) else {
        missing.append(name)
        continue
      }
      guard let expected, found != .unreadable else { continue }
      strangers.append(
        FileMark.stranger(expected: expected, found: found, at: .init(path: path, className: name)))
    }
    return (missing, strangers)
  }

  /// The names of all files except indexes, which can be rebuilt.
  var neededFiles: [String] {
    files.filter { OrderedTableName(fileName: $0)?.kind != .index }
  }
}
