import Files
public import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

extension LoggedBackend where Files == TokyoCabinetFiles {
  /// Copies all that is still readable of a damaged store into a new one, and lists what was lost.
  ///
  ///     let report = try TokyoCabinetBackend.salvage(from: "Music", to: "Music salvaged")
  ///     for loss in report.losses { print(loss) }
  ///
  /// The damaged store is only read, and by this library's own code, which takes no byte on trust:
  /// the C library, which a wrecked file can end the process of, does not see it. Of a damaged
  /// class file, every record is looked for; one whose checksum is wrong is left out. A lost
  /// metadata row is made anew. Of a damaged log, the saves before the damage are brought over, as
  /// one good state; later ones are listed, not applied, because each may rest on the one that is
  /// lost.
  ///
  /// Complexity: linear in the size of the files; where they are damaged, a few times that.
  ///
  /// - Parameters:
  ///   - directory: The damaged store.
  ///   - target: Where the new store is to be; it must not exist, or be empty.
  ///   - key: What an encrypted store opens with; the new one is encrypted as it is.
  ///   - progress: Hears of each class.
  /// - Returns: What is in the new store, and what is lost.
  /// - Throws: `StoreError` with `inUse`, `ioError` (no such directory, or something is in the
  ///   target already) or `full`. Nothing is left in the target then.
  public static func salvage(
    from directory: String, to target: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws -> SalvageReport {
    let source = try SalvageSource(directory, key: key, mark: FileMark.ofHashFile)
    defer { withExtendedLifetime(source) {} }
    return try TargetDirectory.make(at: target, like: source.directory) { target in
      var salvage = StoreSalvage(source, target)
      try salvage.run(progress)
      return salvage.report.named(by: source.seal)
    }
  }
}

/// A salvage under way.
struct StoreSalvage {
  private var source: SalvageSource
  private let target: TargetDirectory
  private(set) var report = SalvageReport()
  private var classes: [String: ClassSalvage] = [:]
  private var buffers: [ExactName: [UInt8]] = [:]

  init(_ source: SalvageSource, _ target: TargetDirectory) {
    self.source = source
    self.target = target
  }

  mutating func run(_ progress: (IntegrityProgress) -> Void) throws {
    try source.copyKeyFile(to: target)
    source.readLog(&report)
    let names = try source.entries()
    let tables = Set(
      try names.filter(isClassFile) + source.newFiles.keys.filter { !OrderedFiles.isFile($0) }
    )
    .subtracting([StoreDirectory.buffers]).sorted()
    for (index, name) in tables.enumerated() {
      progress(IntegrityProgress(source.seal.title(name), index, of: tables.count))
      try copyClass(name)
    }
    try copyBuffers()
    try applyLog()
    try finish()
    try source.salvageOrdered(to: target, &report)
    progress(IntegrityProgress("", tables.count, of: tables.count))
  }

  // MARK: Class files

  private func isClassFile(_ name: String) throws -> Bool {
    guard Names.isTable(name), source.seal.name(name) != nil else { return false }
    let place = source.directory.file(name)
    return try storeErrors(at: place.path) { try isRegularFile(place) }
  }

  private mutating func salvage(of name: String) throws -> ClassSalvage {
    try classes[name]
      ?? ClassSalvage(
        name, seal: source.seal.table(name), source: source.file(of: name),
        target: target.file(name))
  }

  private mutating func copyClass(_ name: String) throws {
    var salvage = try salvage(of: name)
    do {
      try salvage.copyFile(&report)
    } catch let error as StoreError where error.place.path == salvage.source {
      report.lose(StoreFinding(.fileDamaged, error, at: error.place))
    }
    classes[name] = salvage
  }

  private mutating func copyBuffers() throws {
    let place = try source.file(of: StoreDirectory.buffers)
    let path = place.path
    guard try source.hasFile(place) else { return }
    var file = try storeErrors(at: path) { try HashFileSalvage(place) }
    try file.run { key, value, record in
      guard let name = bufferName(ofKey: key), !name.isEmpty else {
        return loseBuffer("A buffer has a name that is not UTF-8.", path)
      }
      let exact = ExactName(name)
      if buffers[exact] == nil || record.isCertain { buffers[exact] = [UInt8](copying: value) }
    }
    for (name, bytes) in buffers
    where source.seal.opened(buffer: name.text, bytes) == nil {
      let title = source.seal.title(name.text)
      loseBuffer("The checksum of the buffer \"\(title)\" is wrong: it is left out.", path)
      buffers[name] = nil
    }
    if !file.gaps.isEmpty || file.missingCount > 0 {
      loseBuffer("The file of the named buffers is damaged: some may be missing.", path)
    }
  }

  private mutating func loseBuffer(_ message: String, _ path: String) {
    report.lose(.namedBuffer, message, at: .init(path: path))
  }

  // MARK: The log

  private mutating func applyLog() throws {
    try source.listLosses(&report)
    guard let log = source.log else { return }
    for (changes, names) in try source.pendingChanges(&report) { try apply(changes, names) }
    for batch in log.laterBatches { loseSave(batch, log) }
  }

  private mutating func apply(_ changes: ChangeSet, _ names: [String]) throws {
    for table in changes.tables {
      let name = names[table.table.index]
      var salvage = try salvage(of: name)
      try salvage.apply(table, changes.bytes)
      classes[name] = salvage
    }
    for change in changes.names {
      buffers[ExactName(change.name)] = change.range.map { Array(changes.bytes[$0]) }
    }
  }

  /// Says what was in a save that is not applied.
  private mutating func loseSave(
    _ batch: CommitLogScan.Batch, _ log: CommitLogScan
  ) {
    var what = "a checkpoint"
    if !batch.isCheckpoint, let (changes, names) = try? log.changes(of: batch) {
      what = changes.tables.map { table in
        let rows = table.records.prefix(20).map { "\($0.rowID)" }.joined(separator: ", ")
        let rest = table.records.count > 20 ? " and \(table.records.count - 20) more" : ""
        return "\(source.seal.title(names[table.table.index])) rows \(rows)\(rest)"
      }.joined(separator: "; ")
      what += changes.names.map { "; buffer \"\(source.seal.title($0.name))\"" }.joined()
    }
    report.lose(
      .log, "Not brought over, because a save before it is lost: save \(batch.sequence), \(what).",
      at: .init(path: source.logPath, offset: batch.offset))
  }

  // MARK: The new store

  private mutating func finish() throws {
    var used = Set(classes.values.compactMap(\.classID))
    for (name, var salvage) in classes.sorted(by: { $0.key < $1.key }) {
      guard try !salvage.isEmpty() else {
        report.lose(
          .foreignFile, "There is no record in the file.", at: .init(path: salvage.source))
        try storeErrors(at: source.path) { try removeFile(target.file(name)) }
        continue
      }
      let unused = (0..<UInt8.max).filter { !used.contains($0) }
      used.insert(try salvage.finish(unused, &report))
      try settle(name)
    }
    try writeBuffers()
  }

  private mutating func writeBuffers() throws {
    report.namedBufferCount = buffers.keys.count { !InternalBuffers.contain($0.text) }
    guard !buffers.isEmpty else { return }
    let path = target.temporaryPath + "/" + StoreDirectory.buffers
    try storeErrors(at: path) {
      let place = target.file(StoreDirectory.buffers)
      let file = try HashDatabase(path: place.libraryPath, tuning: Tuning(alignmentPower: 2))
      for (name, bytes) in buffers { try file.put(key: Array(name.text.utf8), value: bytes) }
      try file.close()
    }
    try settle(StoreDirectory.buffers)
  }

  /// Brings a file that is whole to the disk.
  private func settle(_ name: String) throws {
    if source.seal.isEncrypted {
      try FileStamp.put(on: target.file(name), isSynced: false)
    }
    try target.synchronize(name)
  }
}
