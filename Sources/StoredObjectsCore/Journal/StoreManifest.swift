/// What a store's directory must hold: a small file that outlives the loss of others.
///
///     "SO-Files" | version (4) | first epoch (8) | count (4) | names | checksum (4)
///
/// A log that was deleted, or emptied by accident, looks like that of a new store, and a class whose
/// file is gone like one that was never saved. With the manifest both are damage. It is made after the
/// log, and gets the name of a file after the file is in place; a store without one, such as those of
/// BNRPersistence, has lost nothing.
package struct StoreManifest: Equatable, Sendable {
  /// The epoch of the log when it was made; each emptying of the log adds one.
  var firstEpoch: UInt64
  /// The files of classes and of named buffers, by name.
  private(set) var files: [String]

  private static let magic = Array("SO-Files".utf8)
  private static let version: UInt32 = 1

  init(firstEpoch: UInt64, files: [String] = []) {
    (self.firstEpoch, self.files) = (firstEpoch, files.sorted())
  }

  /// Adds those files that are not there yet.
  mutating func add(_ names: [String]) {
    let count = files.count
    var known = Set(files)
    for name in names where known.insert(name).inserted { files.append(name) }
    if files.count > count { files.sort() }
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
    guard try buffer.readUInt32() == Self.version else { return nil }
    firstEpoch = try buffer.readUInt64()
    files = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 4)) {
      files.append(try buffer.readString())
    }
    let expected = CommitLogFormat.checksum(Array(bytes[..<buffer.offset]))
    guard try buffer.readUInt32() == expected, buffer.remainingCount == 0 else { return nil }
  }

  /// The file's content.
  var bytes: [UInt8] {
    var buffer = DataBuffer(Self.magic)
    buffer.write(Self.version)
    buffer.write(firstEpoch)
    buffer.writeCount(files.count)
    for name in files { buffer.write(name) }
    buffer.write(CommitLogFormat.checksum(buffer.bytes))
    return buffer.bytes
  }

  /// Whether a log of this epoch can be the one that the manifest was made with.
  func fits(epoch: UInt64) -> Bool {
    epoch >= firstEpoch && epoch - firstEpoch < 1 << 40
  }
}

extension StoreManifest {
  /// That a manifest can't be read, as a finding.
  static func spoilt(_ path: String) -> StoreFinding {
    StoreFinding(
      .fileDamaged,
      "The store's manifest is damaged. Open the store for writing: that makes it anew.",
      at: .init(path: path))
  }

  /// That there is none in a store that must have one, as a finding.
  static func gone(_ path: String) -> StoreFinding {
    StoreFinding(
      .fileDamaged,
      """
      The store's manifest is gone, so that nobody can tell whether other files are, too. Open the \
      store for writing: that makes it anew.
      """,
      at: .init(path: path))
  }
}

extension StoreManifest {
  /// What is wrong with the log, the manifest, and what that lists, without opening the store.
  ///
  /// - Parameters:
  ///   - bytes: The manifest; nil when there is none.
  ///   - log: The log as it is on the disk; nil when there is none.
  ///   - path: The directory.
  ///   - hasFile: Whether a file is there.
  /// - Returns: A finding for each; none for a store without a manifest.
  package static func findings(
    _ bytes: [UInt8]?, _ log: CommitLogScan?, path: String, hasFile: (String) throws -> Bool
  ) rethrows -> [StoreFinding] {
    guard let bytes else { return [] }
    var findings: [StoreFinding] = []
    let epoch = log.flatMap { $0.isBlank ? nil : $0.epoch }
    let manifest = StoreManifest(bytes)
    // A log without headers is a finding already.
    if log?.hasDamagedHeaders != true, let loss = lossOfLog(manifest, epoch: epoch, path) {
      findings.append(StoreFinding(.log, loss))
    }
    guard let manifest else { return findings + [spoilt(path)] }
    return try findings
      + manifest.missingFiles(in: path, hasFile: hasFile).map { StoreFinding(.fileDamaged, $0) }
  }

  /// An error for each file that should be there and is not.
  func missingFiles(
    in path: String, hasFile: (String) throws -> Bool
  ) rethrows -> [StoreError] {
    // An index can be made anew.
    let needed = files.filter { OrderedTableName(fileName: $0)?.kind != .index }
    return try needed.filter { try !hasFile($0) }.map { name in
      StoreError(
        .damaged, "The file is gone, with all records in it. Bring it back from a backup.",
        at: .init(path: path, className: name))
    }
  }
}
