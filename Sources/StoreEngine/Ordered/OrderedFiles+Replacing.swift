import Files
import Locks

extension OrderedFiles {
  /// Creates new files from the old ones and the pending keys.
  ///
  /// Complexity: linear in the sizes of the files.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError`, `damaged` or `closed`. No new file is left
  ///   then.
  func prepare(
    _ pending: [(OrderedTableID, PendingKeys)], mark: FileMark, durability: Durability
  ) throws(StoreError) -> [Replacement] {
    var made: [Replacement] = []
    do {
      for (table, keys) in pending {
        // This throws if the file of a table of data is not a regular file.
        let (file, _) = try file(of: table)
        if file.isLost && !keys.isCleared { continue }
        let name = try name(of: table)
        let replacement = Replacement(
          newName: directory.newName("ordered-\(made.count)", mark), name: name.fileName,
          mark: mark)
        made.append(replacement)
        try systemErrors(at: directory.path) {
          try write(
            keys, of: name, over: file.opened, to: replacement, isSynced: durability != .none)
        }
      }
      return made
    } catch {
      discardSegments(of: made)
      for replacement in made { directory.remove(replacement.newName) }
      throw error
    }
  }

  /// Creates a new file of the keys that a closure appends in order.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`, or an error of the closure. No
  ///   new file is left then.
  func prepare(
    _ table: OrderedTableID, mark: FileMark, durability: Durability,
    _ body: (inout OrderedFileWriter) throws(StoreError) -> Void
  ) throws(StoreError) -> Replacement {
    let name = try name(of: table)
    let replacement = Replacement(
      newName: directory.newName("ordered-0", mark), name: name.fileName, mark: mark)
    do {
      try systemErrors(at: directory.path) {
        var writer = OrderedFileWriter(
          try NewOrderedFile(replacement.newName, in: directory, replacing: replacement.name),
          codec: pageCodec(of: name), mark: mark)
        try body(&writer)
        try writer.finish(isSynced: durability != .none)
      }
      return replacement
    } catch {
      directory.remove(replacement.newName)
      throw error
    }
  }

  /// Creates a temporary file.
  func makeScratchFile(_ number: Int) throws(StoreError) -> ScratchFile {
    let name = "\(ScratchFile.prefix)\(number)"
    let codec = sealing.withLock { $0 }.map { SealedPages($0.seal, fileName: name) }
    return try ScratchFile(name, in: directory, codec: codec)
  }

  private func write(
    _ keys: PendingKeys, of table: OrderedTableName, over base: OrderedBase?,
    to replacement: Replacement, isSynced: Bool
  ) throws(StoreError) {
    do {
      let areSegments = try writeSegments(
        of: table, keys, over: base, to: replacement, isSynced: isSynced)
      if areSegments { return }
      try writeKeys(of: keys.view(over: base), to: replacement, isSynced: isSynced)
    } catch  where error.code == .damaged {
      guard table.kind == .index else { throw error }
      // An empty index is rebuilt when it is next used; one with keys would be trusted.
      let nothing = OrderedView(base: nil)
      try writeKeys(of: nothing, to: replacement, isSynced: isSynced)
    }
  }

  private func writeKeys(
    of view: OrderedView, to replacement: Replacement, isSynced: Bool
  ) throws(StoreError) {
    let codec = OrderedTableName(fileName: replacement.name).flatMap { pageCodec(of: $0) }
    var writer = OrderedFileWriter(
      try NewOrderedFile(replacement.newName, in: directory, replacing: replacement.name),
      codec: codec, mark: replacement.mark)
    try writer.append(view)
    try writer.finish(isSynced: isSynced)
  }

  /// Renames new files to their final names, or reads them unrenamed if nothing may be written.
  func publish(_ replacements: [Replacement]) throws(StoreError) {
    for replacement in replacements {
      guard replacement.newName.hasPrefix(StoreDirectory.newPrefix),
        !replacement.newName.contains("/"),
        let name = OrderedTableName(fileName: replacement.name)
      else {
        throw StoreError(
          .damaged, "The log has a file name that is not valid.", at: .init(path: directory.path))
      }
      try publish(replacement.newName, table(name).index)
    }
  }

  private func publish(_ newName: String, _ index: Int) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      var table = state.tables[index]
      try systemErrors(at: directory.path) {
        guard try directory.hasFile(newName) else { return }
        if directory.isReadOnly {
          table.fileName = newName
        } else {
          try rename(newName, to: table.name)
        }
        table.earlierSegments = table.file.opened?.segments ?? table.earlierSegments
        table.file = .unknown
        table.isNeeded = true
        table.generation += 1
      }
      state.tables[index] = table
    }
  }

  /// Renames a new file, or treats an index as lost if its name is that of a directory or the like.
  ///
  /// A lost index is rebuilt; an error would prevent every opening of the store.
  private func rename(_ newName: String, to name: OrderedTableName) throws(StoreError) {
    do {
      try directory.rename(newName, to: name.fileName)
    } catch  where name.kind == .index && error.refusal?.isOfNoRegularFile == true {
      directory.remove(newName)
    }
  }

  /// Returns those of the given files that have marks and no keys.
  func emptyFiles(among fileNames: [String]) -> [String] {
    fileNames.filter { fileName in
      guard let name = OrderedTableName(fileName: fileName), let id = try? table(name),
        let base = try? file(of: id).file.opened, base.count == 0, base.segments == nil,
        let mark = try? mark(of: fileName)
      else { return false }
      return mark != .unreadable
    }
  }

  /// Removes such files, as far as possible; generations remain.
  func removeEmpty(_ fileNames: [String]) {
    for fileName in fileNames {
      guard let name = OrderedTableName(fileName: fileName), let id = try? table(name) else {
        continue
      }
      state.withLock { state in
        guard (try? removeFile(directory.file(fileName))) != nil else { return }
        (state.tables[id.index].file, state.tables[id.index].isNeeded) = (.missing, false)
      }
    }
  }
}
