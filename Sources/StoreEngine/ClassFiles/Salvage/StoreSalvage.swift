import Files

/// A salvage in progress.
struct StoreSalvage<Format: ClassFileFormat> {
  private var source: SalvageSource
  private let target: TargetDirectory
  private let format = Format()
  private(set) var report = SalvageReport()
  private var classes: [String: ClassSalvage<Format>] = [:]
  private var buffers: [ExactName: [UInt8]] = [:]
  /// The last commit of the damaged store, if it is known.
  private(set) var lastCommit: Commit?

  init(_ source: SalvageSource, _ target: TargetDirectory) {
    self.source = source
    self.target = target
  }

  mutating func run(_ progress: (IntegrityProgress) -> Void) throws(StoreError) {
    try source.copyKeyFile(to: target)
    source.readLog(&report)
    for name in try tableNames() { classes[name] = try salvage(of: name) }
    try copyBuffers()
    try takeLog()
    for name in classes.keys { try classes[name]?.readMetadata() }
    try writeClasses(progress)
    try writeBuffers()
    var values = ExternalSalvage(source)
    try values.read(&report)
    let listed = try source.salvageOrdered(to: target, values, &report)
    try values.copy(listed: listed, to: target, &report)
  }

  /// Returns the tables that have files, or will have them after the interrupted checkpoint.
  private func tableNames() throws(StoreError) -> Set<String> {
    var names = Set(source.newFiles.keys)
    for name in try source.entries().compactMap(Format.tableName) {
      let file = source.directory.file(Format.fileName(ofTable: name))
      if try systemErrors(at: file.path, { try isRegularFile(file) }) { names.insert(name) }
    }
    return names.filter { name in
      name != StoreDirectory.buffers && !OrderedFiles.isFile(name) && source.seal.name(name) != nil
    }
  }

  private func salvage(of name: String) throws(StoreError) -> ClassSalvage<Format> {
    if let known = classes[name] { return known }
    return try ClassSalvage(
      name, format, seal: source.seal.table(name), source: location(of: name))
  }

  private func location(of name: String) throws(StoreError) -> ClassFileLocation {
    ClassFileLocation(try source.file(of: name), className: name, isReadOnly: true)
  }

  private func newFile(of name: String) -> NewClassFile {
    let file = target.file(Format.fileName(ofTable: name))
    return NewClassFile(
      ClassFileLocation(file, className: name, isReadOnly: false), rights: .ownerOnly,
      isSynced: true, isEncrypted: source.seal.isEncrypted)
  }

  // MARK: The log

  private mutating func takeLog() throws(StoreError) {
    try source.listLosses(&report)
    lastCommit = try source.lastCommit()
    guard let log = source.log else { return }
    for (changes, names) in try source.pendingChanges(&report) {
      for table in changes.tables {
        let name = names[table.table.index]
        var salvage = try salvage(of: name)
        salvage.take(table, changes.bytes)
        classes[name] = salvage
      }
      for change in changes.names {
        buffers[ExactName(change.name)] = change.range.map { Array(changes.bytes[$0]) }
      }
    }
    for batch in log.leftOutBatches { loseSave(batch, log) }
  }

  /// Reports the content of a save that is not applied.
  private mutating func loseSave(_ batch: CommitLogScan.Batch, _ log: CommitLogScan) {
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
      .log, "Left out, because a save before it is lost: save \(batch.sequence), \(what).",
      at: .init(path: source.logPath, offset: batch.offset))
  }

  // MARK: Classes

  private mutating func writeClasses(_ progress: (IntegrityProgress) -> Void) throws(StoreError) {
    var used = Set(classes.values.compactMap(\.metadata?.classID))
    for (index, name) in classes.keys.sorted().enumerated() {
      progress(IntegrityProgress(source.seal.title(name), index, of: classes.count))
      guard var salvage = classes[name] else { continue }
      let unused = (0..<UInt8.max).filter { !used.contains($0) }
      if try salvage.write(to: newFile(of: name), unused: unused, &report) {
        if let classID = salvage.metadata?.classID { used.insert(classID) }
      } else {
        report.lose(
          .foreignFile, "There is no record in the file.", at: .init(path: salvage.source))
      }
    }
    progress(IntegrityProgress("", classes.count, of: classes.count))
  }

  // MARK: Named buffers

  private mutating func copyBuffers() throws(StoreError) {
    let location = try location(of: StoreDirectory.buffers)
    do {
      guard var salvage = try format.salvage(location) else { return }
      try salvage.run(isValid: nil) { key, value, _, isCertain in
        guard let name = String(validating: [UInt8](copying: key), as: UTF8.self), !name.isEmpty
        else { return loseBuffer("A buffer has a name that is not UTF-8.", location) }
        let exact = ExactName(name)
        if buffers[exact] == nil || isCertain { buffers[exact] = [UInt8](copying: value) }
      }
      if !salvage.damage(foundCount: .max).isEmpty {
        loseBuffer("The file of the named buffers is damaged: some may be missing.", location)
      }
    } catch { report.lose(StoreFinding(.namedBuffer, error, at: .init(path: location.path))) }
    for (name, bytes) in buffers where source.seal.opened(buffer: name.text, bytes) == nil {
      let title = source.seal.title(name.text)
      loseBuffer("The checksum of the buffer \"\(title)\" is wrong: it is left out.", location)
      buffers[name] = nil
    }
  }

  private mutating func loseBuffer(_ message: String, _ location: ClassFileLocation) {
    report.lose(.namedBuffer, message, at: .init(path: location.path))
  }

  private mutating func writeBuffers() throws(StoreError) {
    report.namedBufferCount = buffers.keys.count { !InternalBuffers.contain($0.text) }
    if buffers.isEmpty && !Format.isKnownByBuffers { return }
    let writer = try format.writer(newFile(of: StoreDirectory.buffers), sizedAs: nil)
    do {
      for (name, bytes) in buffers {
        try name.text.lendUTF8 { (key) throws(StoreError) in
          try bytes.lend { (value) throws(StoreError) in try writer.add(key: key, value: value) }
        }
      }
      try writer.finish()
    } catch {
      writer.cancel()
      throw error
    }
  }
}
