import Files
public import StoreEngine
import TokyoCabinetFile

extension TokyoCabinetFiles {
  /// Makes new files without gaps, with buckets for the records they have, beside those that get
  /// smaller by that, or have another byte order than the C library here.
  ///
  /// Complexity: linear in the sizes of the files.
  ///
  /// - Throws: `StoreError` with `full`, `ioError`, `damaged` or `closed`. No new file is left
  ///   then.
  public func prepareCompaction(
    mark: FileMark, durability: Durability, progress: (IntegrityProgress) -> Void
  ) throws -> Compaction {
    try preparing(durability) { compaction in
      let names = try tableNames().sorted() + [StoreDirectory.buffers]
      for (index, name) in names.enumerated() {
        progress(IntegrityProgress(name, index, of: names.count))
        try prepareCompaction(of: name, mark, isSynced: durability != .none, &compaction)
      }
      progress(IntegrityProgress("", names.count, of: names.count))
    }
  }

  /// Makes new files in the byte order of the C library here, beside those of these names.
  ///
  /// One for which that fails is left out: it can be read as it is, or reading it will say what is
  /// wrong.
  ///
  /// Complexity: linear in the sizes of these files.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`. No new file is left then.
  func prepareConversion(
    of names: [String], mark: FileMark, durability: Durability
  ) throws -> Compaction {
    try preparing(durability) { compaction in
      for name in names {
        let made = compaction.replacements
        do {
          try prepareCompaction(of: name, mark, isSynced: durability != .none, &compaction)
        } catch is StoreError {
          discard(compaction.replacements.filter { !made.contains($0) })
          compaction.replacements = made
        }
      }
    }
  }

  /// The files that have another byte order than the C library here.
  func foreignFileNames() throws -> [String] {
    // Not the names of tables, to know which one has to open their files.
    let names = try fileNames().sorted().filter { name in
      try (Names.isTable(name) || name == StoreDirectory.buffers) && isHashFile(name)
    }
    if names.isEmpty { return [] }
    let order = try libraryByteOrder()
    return try storeErrors(at: location) {
      try names.filter { name in
        let start = try firstBytes(of: directory.file(name), count: HashFileHeader.size)
        return HashFileHeader(bytes: start).map { $0.byteOrder != order } ?? false
      }
    }
  }

  private func preparing(
    _ durability: Durability, _ body: (inout Compaction) throws -> Void
  ) throws -> Compaction {
    var compaction = Compaction()
    do {
      try body(&compaction)
      // The log is going to name the new files, so they must be there after a power cut.
      if durability != .none && !compaction.replacements.isEmpty { try directory.synchronize() }
      return compaction
    } catch {
      discard(compaction.replacements)
      throw error
    }
  }

  private func prepareCompaction(
    of name: String, _ mark: FileMark, isSynced: Bool, _ compaction: inout Compaction
  ) throws {
    let file = name == StoreDirectory.buffers ? buffers : try file(table(named: name))
    let replacement = Replacement(
      newName: "\(StoreDirectory.newPrefix)\(compaction.replacements.count)", name: name,
      mark: mark)
    compaction.replacements.append(replacement)
    let place = try directory.file(replacement.newName)
    let old = try file.file()
    let saved = try old.map { try compact($0, file, to: place, mark, isSynced: isSynced) } ?? 0
    if try saved > 0 || old.map({ try $0.header.byteOrder != libraryByteOrder() }) == true {
      compaction.bytesSaved += saved
    } else {
      discard([replacement])
      compaction.replacements.removeLast()
    }
  }

  /// Writes a file anew; by how much it is smaller then.
  private func compact(
    _ old: HashFile, _ file: TableFile, to place: FilePlace, _ mark: FileMark, isSynced: Bool
  ) throws -> Int {
    try file.mappingErrors {
      var layout = old.layout
      layout.byteOrder = try libraryByteOrder()
      layout.bucketCount = Layouts.bucketCount(for: old.count)
      try FileRebuild(
        old: old, layout: layout, place: place, rights: directory.rights(ofNew: file.fileName),
        isSynced: isSynced, mark: mark, isStamped: isEncrypted()
      ).run()
      return try old.fileSize - sizeOfFile(at: place)
    }
  }
}
