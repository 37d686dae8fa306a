import Files
import StoreEngine

extension Store {
  /// Builds the full-text indexes of the registered classes that are missing or out of date.
  ///
  /// Searches and saves build an index when they first need it. Call this method to choose the
  /// moment, and to show progress. The work of an earlier process that was stopped is kept, except
  /// for the last 100,000 objects or, on disk, the last gigabyte of the index.
  ///
  /// Saves of other stores on the backend wait during the build.
  ///
  /// Complexity: Linear in the number of objects of the classes to build and in the lengths of
  /// their texts. Memory: ``StoreConfiguration/indexingMemory``, and a byte for each object and
  /// attribute. Data that exceeds it goes to temporary files, which are about as large as the
  /// index.
  ///
  /// - Parameters:
  ///   - rebuildsExisting: Whether to rebuild indexes that are complete, too. Pass true after a
  ///     finding of ``check(progress:)``.
  ///   - progress: Receives the progress, in objects.
  /// - Throws: ``/StoreEngine/StoreError`` with `readOnly`, `damaged`, `newerVersion`, `noSpace`,
  ///   `ioError` or `closed`.
  public func buildFullTextIndexes(
    rebuildsExisting: Bool = false, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        for entry in classes {
          guard let text = entry.fullText else { continue }
          if rebuildsExisting { try rebuildText(of: entry, text, progress) }
          try buildTextIfNeeded(of: entry, text, progress)
        }
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }

  /// Builds the index of a class unless it is usable; requires the commit lock.
  func buildTextIfNeeded(
    of entry: RegisteredClass, _ text: RegisteredText,
    _ progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      if try text.isUsable(entry, backend) { return }
    } catch  where error.isOfIndex {
      return try rebuildText(of: entry, text, progress)
    }
    do {
      try buildText(of: entry, text, rebuildsExisting: false, progress)
    } catch  where error.isOfIndex {
      try rebuildText(of: entry, text, progress)
    }
  }

  /// Rebuilds the index of a class, whatever its state; requires the commit lock.
  func rebuildText(
    of entry: RegisteredClass, _ text: RegisteredText,
    _ progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try buildText(of: entry, text, rebuildsExisting: true, progress)
  }

  private func buildText(
    of entry: RegisteredClass, _ text: RegisteredText, rebuildsExisting: Bool,
    _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) {
    if let backend = backend as? any OrderedRebuilding,
      try RegisteredText.objectCount(entry, self.backend) >= text.sortedCount
    {
      let goesOn = rebuildsExisting ? false : try text.isUnfinished(self.backend)
      var build = try SortedTextBuild(self, entry, text, backend, goesOn: goesOn)
      return try build.run(progress)
    }
    var build = try TextBuild(self, entry, text, rebuildsExisting: rebuildsExisting)
    try build.run(progress)
  }
}

/// A build of a full-text index from the records in file order, in several commits.
///
/// It is for a few objects, or for a backend that can't replace a table of any size at once. Every
/// commit but the last has a stamp that marks the index as unfinished.
///
/// The same commits contain the lengths of the texts, which show the rows that the index has. So
/// another process can skip these rows, whatever the order of the file.
private struct TextBuild {
  /// The maximum size to collect in memory before a commit.
  private static let batchSize = 64 << 20

  private let store: Store
  private let text: RegisteredText
  private let walk: TextWalk
  private var update: TextIndexUpdate
  private var lastRow: UInt32 = 0
  private var batchCount = 0
  /// The texts of rows that came after a higher row, and their total size.
  private var late: [(row: UInt32, texts: [String])] = []
  private var lateBytes = 0

  init(
    _ store: Store, _ entry: RegisteredClass, _ text: RegisteredText, rebuildsExisting: Bool
  ) throws(StoreError) {
    (self.store, self.text) = (store, text)
    let goesOn = rebuildsExisting ? false : try text.isUnfinished(store.backend)
    let known = goesOn ? try TextLengths(text, store.backend).allRows() : []
    walk = try TextWalk(store, entry, text, without: known)
    update = try TextIndexUpdate(text, store.backend, isNew: !goesOn)
  }

  mutating func run(_ progress: (IntegrityProgress) -> Void) throws(StoreError) {
    try walk.run(progress) { (row, texts) throws(StoreError) in try take(row, texts) }
    try addLate()
    try commit(text.stamp)
    walk.finish(progress)
  }

  private mutating func take(_ row: UInt32, _ texts: [String]) throws(StoreError) {
    if row > lastRow {
      update.replace(row, nil, texts)
      lastRow = row
    } else {
      late.append((row, texts))
      lateBytes += texts.reduce(64) { $0 + $1.utf8.count }
    }
    batchCount += 1
    guard batchCount >= text.batchRows || update.byteCount + lateBytes > Self.batchSize else {
      return
    }
    try addLate()
    try commit(IndexStamp.unfinished + text.stamp)
  }

  /// Adds the late rows, in a commit after the commit of the rows before them.
  private mutating func addLate() throws(StoreError) {
    if late.isEmpty { return }
    try commit(IndexStamp.unfinished + text.stamp)
    for (row, texts) in late.sorted(by: { $0.row < $1.row }) { update.replace(row, nil, texts) }
    (late, lateBytes) = ([], 0)
  }

  private mutating func commit(_ stamp: [UInt8]) throws(StoreError) {
    var changes = ChangeSet()
    try update.finish(&changes, stamp: stamp)
    try store.backend.commit(changes)
    update = try TextIndexUpdate(text, store.backend, isNew: false)
    batchCount = 0
  }
}
