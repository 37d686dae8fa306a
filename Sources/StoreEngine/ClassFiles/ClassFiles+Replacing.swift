extension ClassFiles {
  /// Creates new files with the changes, and syncs them unless the durability level is `none`.
  ///
  /// Complexity: linear in the sizes of the files, which are copied or rewritten, and in the
  /// changes.
  ///
  /// - Throws: ``StoreError`` with `rowExists`, `noSpace`, `ioError`, `damaged` or `closed`. No new
  ///   file is left then.
  public func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws(StoreError) -> [Replacement] {
    try preparing(durability) { (compaction) throws(StoreError) in
      for (file, content) in try targets(of: changes) {
        let old = try file.file()
        let ofFile = ClassFileChanges(
          bytes: changes.bytes, content: content, location: try file.location())
        guard old != nil || ofFile.writesAnything else { continue }
        let new = try begin(file, mark, durability, &compaction)
        if let old {
          try old.write(ofFile, to: new)
        } else {
          try format.write(ofFile, to: new)
        }
      }
    }.replacements
  }

  private func targets(
    of changes: ChangeSet
  ) throws(StoreError) -> [(TableFile, ClassFileChanges.Content)] {
    var targets: [(TableFile, ClassFileChanges.Content)] = []
    for table in changes.tables where !table.records.isEmpty {
      targets.append((try tables.file(table.table), .records(table.records)))
    }
    if !changes.names.isEmpty { targets.append((tables.buffers, .names(changes.names))) }
    return targets
  }

  /// Creates all new files or none, and syncs their names.
  private func preparing(
    _ durability: Durability, _ body: (inout Compaction) throws(StoreError) -> Void
  ) throws(StoreError) -> Compaction {
    var compaction = Compaction()
    do {
      try body(&compaction)
      // The log will name the new files, so they must exist after a power cut.
      if durability != .none && !compaction.replacements.isEmpty { try directory.synchronize() }
      return compaction
    } catch {
      discard(compaction.replacements)
      throw error
    }
  }

  /// Chooses the name of a new file to be created.
  private func begin(
    _ file: TableFile, _ mark: FileMark, _ durability: Durability,
    _ compaction: inout Compaction
  ) throws(StoreError) -> NewClassFile {
    let newName = directory.newName("\(compaction.replacements.count)", mark)
    compaction.replacements.append(Replacement(newName: newName, name: file.name, mark: mark))
    return try newFile(newName, for: file, mark: mark, isSynced: durability != .none)
  }

  /// Returns the description of a new file beside that of a table.
  func newFile(
    _ newName: String, for file: TableFile, mark: FileMark?, isSynced: Bool
  ) throws(StoreError) -> NewClassFile {
    let location = ClassFileLocation(
      try directory.file(newName), className: file.name, isReadOnly: isReadOnly)
    return NewClassFile(
      location, rights: try directory.rights(ofNew: file.fileName), mark: mark, isSynced: isSynced,
      isEncrypted: try directory.hasFile(StoreDirectory.key), testedSizeLimit: testedSizeLimit)
  }

  /// Renames new files to their final names.
  ///
  /// Running scans continue in the old files. If the store is open for reading only, nothing is
  /// renamed; the new files are read under their temporary names.
  ///
  /// Complexity: linear in the number of replacements, and in the number of tables for each.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  public func publish(_ replacements: [Replacement]) throws(StoreError) {
    for replacement in replacements where try directory.hasFile(replacement.newName) {
      try directory.check(replacement)
      let file = try file(named: replacement.name)
      if isReadOnly {
        file.redirect(to: replacement.newName)
      } else {
        try file.replace(by: replacement.newName)
      }
    }
  }

  /// Returns the size of the files that a checkpoint would copy or rewrite.
  ///
  /// Complexity: linear in the number of these files; it opens those that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged` or `closed`.
  public func byteCount(touchedBy footprint: PendingFootprint) throws(StoreError) -> Int {
    let files = try footprint.tables.map(tables.file) + (footprint.hasNames ? [tables.buffers] : [])
    var count = 0
    for file in files { count += try file.file()?.byteCount ?? 0 }
    return count
  }

  /// Returns the open files that a change set touches.
  ///
  /// Complexity: linear in the number of these files; it opens those that are not open.
  public func openFiles(touchedBy footprint: PendingFootprint) -> [any Sendable] {
    let files = footprint.tables.compactMap { try? tables.file($0).file() }
    return files + (footprint.hasNames ? [try? tables.buffers.file()].compactMap(\.self) : [])
  }

  // MARK: Files without records

  /// Returns those of the given tables whose files have marks and no records.
  ///
  /// It leaves out damaged and unreadable files, and always the named buffers.
  ///
  /// Complexity: linear in the number of names. It reads and checks the files without records.
  public func emptyTables(among names: [String]) -> [String] {
    names.filter { name in
      guard name != StoreDirectory.buffers, let file = try? file(named: name),
        (try? file.file()?.recordCount) == 0, let location = try? file.location(),
        let mark = try? format.mark(of: location), mark != .unreadable
      else { return false }
      return (try? format.findings(location).isEmpty) == true
    }
  }

  /// Removes the files of such tables.
  ///
  /// Complexity: linear in the number of names, and in the number of tables for each.
  public func removeEmpty(_ names: [String]) {
    for name in names { (try? file(named: name))?.removeEmpty() }
    tables.forget(names)
  }

  // MARK: Without changes

  /// Creates new files without gaps for those that become smaller, or that are of another machine.
  ///
  /// Complexity: linear in the sizes of the files.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError`, `damaged` or `closed`. No new file is left
  ///   then.
  public func prepareCompaction(
    mark: FileMark, durability: Durability, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> Compaction {
    try preparing(durability) { (compaction) throws(StoreError) in
      let names = try tableNames().sorted() + [StoreDirectory.buffers]
      for (index, name) in names.enumerated() {
        progress(IntegrityProgress(name, index, of: names.count))
        try compact(name, mark, durability, &compaction)
      }
      progress(IntegrityProgress("", names.count, of: names.count))
    }
  }

  /// Returns the tables and named buffers whose files were written by another kind of machine.
  ///
  /// Complexity: linear in the number of files in the directory, whose headers are read.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func foreignTables() throws(StoreError) -> [String] {
    // The tables are not opened, because that would require undamaged files.
    var names: [String] = []
    for name in try fileTables().sorted() where try format.isForeign(location(ofTable: name)) {
      names.append(name)
    }
    return names
  }

  /// Creates files for this machine beside those of the given tables.
  ///
  /// A table for which that fails is left out: its file is readable as it is, or reading it reports
  /// the problem.
  ///
  /// Complexity: linear in the sizes of these files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`. No new file is left then.
  public func prepareConversion(
    of names: [String], mark: FileMark, durability: Durability
  ) throws(StoreError) -> Compaction {
    try preparing(durability) { (compaction) throws(StoreError) in
      for name in names {
        let made = compaction
        do {
          try compact(name, mark, durability, &compaction)
        } catch {
          discard(compaction.replacements.filter { !made.replacements.contains($0) })
          compaction = made
        }
      }
    }
  }

  private func compact(
    _ name: String, _ mark: FileMark, _ durability: Durability, _ compaction: inout Compaction
  ) throws(StoreError) {
    let file = try file(named: name)
    guard let old = try file.file() else { return }
    let made = compaction
    let new = try begin(file, mark, durability, &compaction)
    if try old.compact(to: new) {
      compaction.bytesSaved += try old.byteCount - sizeOfFile(at: new.location.file)
    } else {
      discard(compaction.replacements.suffix(1))
      compaction = made
    }
  }
}
