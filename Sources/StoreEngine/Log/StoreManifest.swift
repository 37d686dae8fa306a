/// What a store's directory must hold: a small file that outlives the loss of others.
///
///     "SO-Files" | version (4) | first epoch (8) | epoch (8) | 1 and the last commit, or 0 |
///     count (4) | name and mark (12) of each | checksum (4)
///
/// A log that was deleted, or emptied by accident, looks like that of a new store, and a class
/// whose file is gone like one that was never saved. With the manifest both are damage. It is made
/// after the log, and written by every checkpoint after the files are in place; a store without
/// one, such as those of BNRPersistence, has lost nothing.
///
/// Version 1 has neither epoch nor marks: its files may be of any moment. Version 2 has no commit.
package struct StoreManifest: Equatable, Sendable {
  /// The epoch of the log when the first manifest was made; each emptying of the log adds one.
  var firstEpoch: UInt64
  /// The epoch of the log that goes with the marks; nil when nobody knows.
  private(set) var epoch: UInt64?
  /// The last commit that is in the files; nil where there was none, or none with a number.
  var lastCommit: Commit?
  /// The files of classes, of named buffers, and of ordered tables.
  private(set) var names: Set<String>
  /// The marks of files; one that is not here may have any mark, or none.
  private(set) var marks: [String: FileMark] = [:]

  private static let magic = Array("SO-Files".utf8)
  private static let version: UInt32 = 3
  /// Epochs of one store are never so far from each other.
  static let epochLimit: UInt64 = 1 << 40

  init(firstEpoch: UInt64, epoch: UInt64? = nil, files: [String] = []) {
    (self.firstEpoch, self.epoch, names) = (firstEpoch, epoch, Set(files))
  }

  /// The files by name.
  var files: [String] { names.sorted() }

  /// Sets what a file is known by.
  mutating func add(_ name: String, _ mark: FileMark?) {
    names.insert(name)
    marks[name] = mark
  }

  /// Forgets files that hold nothing, so that they may go.
  mutating func remove(_ empty: [String]) {
    for name in empty {
      names.remove(name)
      marks[name] = nil
    }
  }

  /// Takes in a checkpoint: its files, and the epoch of the log that follows.
  mutating func add(_ replacements: [Replacement], followedBy epoch: UInt64) {
    for replacement in replacements { add(replacement.name, replacement.mark) }
    self.epoch = epoch
  }

  /// Reads a manifest; nil when it makes no sense.
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
    self.init(firstEpoch: try buffer.readUInt64())
    if version > 1 {
      let epoch = try buffer.readUInt64()
      self.epoch = epoch == 0 ? nil : epoch
    }
    if version > 2, try buffer.readBool() { lastCommit = try Commit(from: &buffer) }
    for _ in 0..<(try buffer.readCount(minimumElementSize: 4)) {
      let name = try buffer.readString()
      add(name, version > 1 ? try buffer.readMark() : nil)
    }
    let expected = CommitLogFormat.checksum(Array(bytes[..<buffer.offset]))
    guard try buffer.readUInt32() == expected, buffer.remainingCount == 0 else { return nil }
  }

  /// The file's content.
  var bytes: [UInt8] {
    var buffer = DataBuffer(Self.magic)
    buffer.write(Self.version)
    buffer.write(firstEpoch)
    buffer.write(epoch ?? 0)
    buffer.write(lastCommit != nil)
    lastCommit?.encode(to: &buffer)
    buffer.writeCount(names.count)
    let none = [UInt8](repeating: 0, count: FileMark.byteCount)
    for name in files {
      buffer.write(name)
      buffer.append(marks[name]?.bytes ?? none)
    }
    buffer.write(CommitLogFormat.checksum(buffer.bytes))
    return buffer.bytes
  }

  /// Whether a log of this epoch can be of the store that the manifest was made for.
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
  /// Why a log is not the one that the store with a manifest has; nil when it may be.
  ///
  /// Any manifest, also one that is spoilt, says that there was a log.
  ///
  /// - Parameters:
  ///   - manifest: The manifest; nil when it is spoilt.
  ///   - epoch: The epoch of the log; nil when there is none.
  ///   - firstEpoch: That of the first of the logs before it that it may need; its own without any.
  ///   - path: The directory.
  ///   - isCheckpointed: Whether the log has the record of a checkpoint. Its manifest may be there
  ///     already.
  /// - Returns: damage; nil when there is none.
  static func lossOfLog(
    _ manifest: StoreManifest?, epoch: UInt64?, firstEpoch: UInt64? = nil, _ path: String,
    isCheckpointed: () -> Bool
  ) -> StoreError? {
    guard let epoch else {
      return StoreError(
        .damaged,
        """
        The commit log of this store is gone, or has been emptied: saves that were in no class file \
        yet are lost with it. Bring it back from a backup, or salvage the store.
        """,
        at: .init(path: path))
    }
    guard let manifest else { return nil }
    let message: String
    if !manifest.isOfThisStore(epoch) {
      message = "The commit log is that of another store, or of another time of this one."
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
  /// That a manifest can't be read, as a finding.
  static func spoilt(_ path: String) -> StoreFinding {
    StoreFinding(
      .fileDamaged,
      "The store's manifest is damaged. Open the store for writing to make a new one.",
      at: .init(path: path))
  }

  /// That there is none in a store that must have one, as a finding.
  static func gone(_ path: String) -> StoreFinding {
    StoreFinding(
      .fileDamaged,
      """
      The store's manifest is gone, so that nobody can tell whether other files are, too. Open the \
      store for writing to make a new one.
      """,
      at: .init(path: path))
  }
}

extension StoreManifest {
  /// What is wrong with the log, the manifest, and what that lists, without opening the store.
  ///
  /// Marks are compared where no checkpoint in the log may have put other files in place.
  ///
  /// - Parameters:
  ///   - bytes: The manifest; nil when there is none.
  ///   - log: The log as it is on the disk; nil when there is none.
  ///   - path: The directory.
  ///   - hasFile: Whether a file is there.
  ///   - mark: What a file that is there is known by.
  /// - Returns: A finding for each; none for a store without a manifest.
  /// - Throws: ``StoreError``, what the closures throw.
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
    findings += try manifest.missingFiles(in: path, hasFile: hasFile)
      .map { StoreFinding(.fileDamaged, $0) }
    if isCheckpointed { return findings }
    return try findings
      + manifest.strangers(in: path, hasFile: hasFile, mark: mark)
      .map { StoreFinding(.fileDamaged, $0) }
  }

  /// An error for each file that should be there and is not.
  func missingFiles(
    in path: String, hasFile: (String) throws(StoreError) -> Bool
  ) throws(StoreError) -> [StoreError] {
    var errors: [StoreError] = []
    for name in neededFiles where try !hasFile(name) {
      errors.append(StoreError.fileGone(name, in: path))
    }
    return errors
  }

  /// An error for each file that is there, and is not the store's own.
  func strangers(
    in path: String, hasFile: (String) throws(StoreError) -> Bool,
    mark: (String) throws(StoreError) -> FileMark?
  ) throws(StoreError) -> [StoreError] {
    var errors: [StoreError] = []
    for name in neededFiles {
      guard let expected = marks[name], try hasFile(name) else { continue }
      let found = try mark(name)
      if found == expected || found == .unreadable { continue }
      errors.append(
        FileMark.stranger(expected: expected, found: found, at: .init(path: path, className: name)))
    }
    return errors
  }

  /// All files but indexes, which can be rebuilt.
  private var neededFiles: [String] {
    files.filter { OrderedTableName(fileName: $0)?.kind != .index }
  }
}
