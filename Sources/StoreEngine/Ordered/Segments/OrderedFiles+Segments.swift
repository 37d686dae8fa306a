import Files
import Locks

extension OrderedFiles {
  /// Sets the sizes of segments; called before anything is written.
  func use(_ limits: SegmentLimits) { segmentLimits.withLock { $0 = limits } }

  func pageCodec(ofFile fileName: String) -> (any OrderedPageCodec)? {
    sealing.withLock { $0 }.map { SealedPages($0.seal, fileName: fileName) }
  }

  /// Opens the file of a segment.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func openSegment(
    _ fileName: String, directoryLimit: Int = PageDirectory.limit
  ) throws(StoreError) -> OrderedFile {
    guard let map = try map(fileName) else {
      throw StoreError.fileGone(fileName, in: directory.path)
    }
    return try OrderedFile(
      any: map, codec: pageCodec(ofFile: fileName), directoryLimit: directoryLimit)
  }

  /// Opens the segments of a list.
  ///
  /// - Parameters:
  ///   - list: The list.
  ///   - table: The table.
  ///   - path: The path of the list.
  ///   - earlier: Segments of the table that are open already.
  /// - Returns: The open segments.
  /// - Throws: ``StoreError`` with `damaged` or `ioError`.
  func openSegments(
    _ list: SegmentList, of table: OrderedTableName, path: String, earlier: OrderedSegments?
  ) throws(StoreError) -> OrderedSegments {
    let known = earlier?.filesByNumber ?? [:]
    // Together, the directories of all segments are no larger than that of one file.
    let limit = PageDirectory.limit / max(1, list.numbers.count)
    func open(
      _ kind: SegmentName.Kind, _ number: UInt64, _ mark: FileMark
    ) throws(StoreError) -> OrderedFile {
      if let known = known[number], OrderedFileFormat.mark(known.file) == mark { return known }
      let name = SegmentName.fileName(kind, number, of: table.fileName)
      return try openSegment(name, directoryLimit: limit)
    }
    let parts = try list.parts.map { (part) throws(StoreError) in
      try open(.keys, part.number, part.mark)
    }
    let runs = try list.runs.map { (run) throws(StoreError) in
      try open(.changes, run.number, run.mark)
    }
    return try OrderedSegments(list, parts: parts, runs: runs, path: path)
  }

  // MARK: Writing

  /// Writes the table's changes as segments, with a list of these in a new file.
  ///
  /// - Returns: false if the table is too small for segments; nothing has been written then.
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `damaged`. No new segment is left then.
  func writeSegments(
    of table: OrderedTableName, _ keys: PendingKeys, over base: OrderedBase?,
    to replacement: Replacement, isSynced: Bool
  ) throws(StoreError) -> Bool {
    let limits = segmentLimits.withLock { $0 }
    guard !keys.replacesFile, let base, limits.areSegments(base) else { return false }
    let target = SegmentTarget(
      files: self, mark: replacement.mark ?? .unreadable, isSynced: isSynced, limits: limits)
    var fold = SegmentFold(table, over: base.segments, to: target)
    let first = fold.list.nextNumber
    do {
      if base.segments == nil {
        try fold.divide(keys.view(over: base))
      } else {
        try fold.add(keys.counted(over: base))
      }
      var writer = OrderedFileWriter(
        try NewOrderedFile(replacement.newName, in: directory, replacing: replacement.name),
        codec: pageCodec(of: table), mark: replacement.mark, content: .segments)
      try fold.list.write(to: &writer)
      try writer.finish(isSynced: isSynced)
      return true
    } catch {
      removeSegments(of: table.fileName) { $0 >= first }
      throw error
    }
  }

  // MARK: Removing

  /// Removes the segments of new files that will not be published.
  func discardSegments(of replacements: [Replacement]) {
    for replacement in replacements {
      guard let name = OrderedTableName(fileName: replacement.name), let id = try? table(name),
        let new = try? segmentList(in: replacement.newName, of: name)
      else { continue }
      // If the present segments are unknown, none is removed.
      guard let present = try? file(of: id).file else { continue }
      let kept = Set(present.opened?.segments?.list.numbers ?? [])
      let discarded = Set(new.numbers).subtracting(kept)
      removeSegments(of: name.fileName) { discarded.contains($0) }
    }
  }

  /// Returns the list in a file that has not been published; nil if it has no list.
  private func segmentList(
    in fileName: String, of table: OrderedTableName
  ) throws(StoreError) -> SegmentList? {
    guard let map = try map(fileName) else { return nil }
    let file = try OrderedFile(any: map, codec: pageCodec(of: table))
    return file.footer.content == .segments ? try SegmentList(file) : nil
  }

  /// Removes the segments that published files have replaced, as far as possible.
  ///
  /// Readers that have opened them keep them.
  func removeReplacedSegments(of replacements: [Replacement]) {
    for replacement in replacements {
      guard let name = OrderedTableName(fileName: replacement.name), let id = try? table(name),
        state.withLock({ $0.tables[id.index].hasSegments })
      else { continue }
      removeUnlistedSegments(of: id, name)
    }
  }

  /// Removes segments that a dead process left, among the names of all files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `damaged`.
  func removeStraySegments(among names: [String]) throws(StoreError) {
    for fileName in Set(names.compactMap { SegmentName.parse($0)?.table }) {
      guard let name = OrderedTableName(fileName: fileName), try hasFile(name) else { continue }
      removeUnlistedSegments(of: try table(name), name)
    }
  }

  private func removeUnlistedSegments(of id: OrderedTableID, _ name: OrderedTableName) {
    // Those of a damaged table, or of one whose list is gone, are needed to salvage it.
    guard let base = try? file(of: id).file.opened else { return }
    let kept = Set(base.segments?.list.numbers ?? [])
    removeSegments(of: name.fileName) { !kept.contains($0) }
  }

  private func removeSegments(of table: String, where isRemoved: (UInt64) -> Bool) {
    for name in (try? directory.entries()) ?? [] {
      guard let segment = SegmentName.parse(name), isRemoved(segment.number),
        segment.table.utf8.elementsEqual(table.utf8)
      else { continue }
      directory.remove(name)
    }
  }
}

extension SegmentLimits {
  /// Whether a table is stored in segments after the next fold.
  func areSegments(_ base: OrderedBase) -> Bool {
    base.byteCount >= (base.segments == nil ? tableBytes : tableBytes / 4)
  }

  /// Returns the number of bytes that a fold of a table writes, which determines how much it folds.
  func foldedByteCount(_ base: OrderedBase) -> Int {
    base.segments == nil ? base.byteCount : min(base.byteCount, 8 * runBytes)
  }
}
