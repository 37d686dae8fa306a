import CDB
import Files
public import StoreEngine

extension LoggedBackend where Files == CDBFiles {
  /// Copies all that is still readable of a damaged store into a new one, and lists what was lost.
  ///
  ///     let report = try CDBBackend.salvage(from: "Music", to: "Music salvaged")
  ///     for loss in report.losses { print(loss) }
  ///
  /// The damaged store is only read. Of a damaged class file, every record is looked for, by its
  /// slot and by the record before it; one whose checksum is wrong is left out. A lost metadata row
  /// is made anew. Of a damaged log, the saves before the damage are brought over, as one good
  /// state; later ones are listed, not applied, because each may rest on the one that is lost.
  ///
  /// Complexity: linear in the size of the files.
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
    let source = try SalvageSource(
      directory, key: key, fileName: Names.file, mark: FileMark.ofDatabase)
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
    let files = try source.entries()
    for name in Set(files.compactMap(Names.table) + source.newFiles.keys)
    where name != StoreDirectory.buffers && !OrderedFiles.isFile(name)
      && source.seal.name(name) != nil
    {
      classes[name] = try salvage(of: name)
    }
    try copyBuffers()
    try takeLog()
    for name in classes.keys { try classes[name]?.readMetadata() }
    try writeClasses(progress)
    try writeBuffers()
    try source.salvageOrdered(to: target, &report)
  }

  private func salvage(of name: String) throws -> ClassSalvage {
    try classes[name]
      ?? ClassSalvage(name, seal: source.seal.table(name), source: source.file(of: name))
  }

  // MARK: The log

  private mutating func takeLog() throws {
    try source.listLosses(&report)
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
    for batch in log.laterBatches {
      report.lose(
        .log, "Save \(batch.sequence) is not brought over, because a save before it is lost.",
        at: .init(path: source.logPath, offset: batch.offset))
    }
  }

  // MARK: The new store

  private mutating func writeClasses(_ progress: (IntegrityProgress) -> Void) throws {
    var used = Set(classes.values.compactMap(\.metadata?.classID))
    for (index, name) in classes.keys.sorted().enumerated() {
      progress(IntegrityProgress(source.seal.title(name), index, of: classes.count))
      guard var salvage = classes[name] else { continue }
      let unused = (0..<UInt8.max).filter { !used.contains($0) }
      let place = target.file(Names.file(of: name))
      if try salvage.write(to: place, unused: unused, &report) {
        if let classID = salvage.metadata?.classID { used.insert(classID) }
      } else {
        report.lose(
          .foreignFile, "There is no record in the file.", at: .init(path: salvage.source))
      }
    }
    progress(IntegrityProgress("", classes.count, of: classes.count))
  }

  private mutating func copyBuffers() throws {
    let place = try source.file(of: StoreDirectory.buffers)
    let path = place.path
    guard try source.hasFile(place) else { return }
    do {
      var salvage = try cdbErrors(className: nil) { try CDBSalvage(place) }
      try salvage.run { take($0, path) }
      if !salvage.gaps.isEmpty || salvage.missingCount > 0 || !salvage.hasTables {
        loseBuffer("The file of the named buffers is damaged: some may be missing.", path)
      }
    } catch { report.lose(StoreFinding(.namedBuffer, error, at: .init(path: path))) }
  }

  private mutating func take(_ record: CDBSalvage.Record, _ path: String) {
    guard let name = String(validating: record.key, as: UTF8.self), !name.isEmpty else {
      return loseBuffer("A buffer has a name that is not UTF-8.", path)
    }
    guard source.seal.opened(buffer: name, record.value) != nil else {
      let title = source.seal.title(name)
      return loseBuffer("The checksum of the buffer \"\(title)\" is wrong: it is left out.", path)
    }
    if buffers[ExactName(name)] == nil { buffers[ExactName(name)] = record.value }
  }

  private mutating func loseBuffer(_ message: String, _ path: String) {
    report.lose(.namedBuffer, message, at: .init(path: path))
  }

  private mutating func writeBuffers() throws {
    report.namedBufferCount = buffers.keys.count { !InternalBuffers.contain($0.text) }
    let place = target.file(Names.file(of: StoreDirectory.buffers))
    try cdbErrors(className: nil) {
      let writer = try CDBWriter(place, format: .classic, rights: .ownerOnly)
      for (name, bytes) in buffers { try writer.add(bytes, forKey: Array(name.text.utf8)) }
      try writer.finish()
    }
  }
}
