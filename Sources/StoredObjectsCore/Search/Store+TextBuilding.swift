import Files
import StoreEngine

extension Store {
  /// Makes the full-text indexes of the registered classes that are missing or out of date.
  ///
  /// Searches and saves do so by themselves when they first need one; this is for doing it at a
  /// moment of your own, and for showing how far it has come. What an earlier process has done that
  /// was stopped is not done again, but for the last 100,000 objects, or on disk the last gigabyte
  /// of the index.
  ///
  /// Saves of other stores on the backend wait meanwhile.
  ///
  /// Complexity: linear in the number of objects of the classes concerned and the lengths of their
  /// texts. Memory: ``StoreConfiguration/indexingMemory``, and a byte for each object and
  /// attribute. What does not fit waits in temporary files, which are about as large as the index.
  ///
  /// - Parameters:
  ///   - anew: Whether indexes that are there are made again, too: after a finding of
  ///     ``check(progress:)``.
  ///   - progress: Hears how far it has come, in objects.
  /// - Throws: ``/StoreEngine/StoreError`` with `readOnly`, `damaged`, `newerVersion`, `noSpace`,
  ///   `ioError` or `closed`.
  public func buildFullTextIndexes(
    anew: Bool = false, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
        for entry in classes {
          guard let text = entry.fullText else { continue }
          if anew { try rebuildText(of: entry, text, progress) }
          try buildTextIfNeeded(of: entry, text, progress)
        }
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }

  /// Inside the commit lock.
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
      try buildText(of: entry, text, anew: false, progress)
    } catch  where error.isOfIndex {
      try rebuildText(of: entry, text, progress)
    }
  }

  /// Makes an index anew, whatever is there; inside the commit lock.
  func rebuildText(
    of entry: RegisteredClass, _ text: RegisteredText,
    _ progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try buildText(of: entry, text, anew: true, progress)
  }

  private func buildText(
    of entry: RegisteredClass, _ text: RegisteredText, anew: Bool,
    _ progress: (IntegrityProgress) -> Void
  ) throws(StoreError) {
    if let backend = backend as? any OrderedRebuilding,
      try RegisteredText.objectCount(entry, self.backend) >= text.sortedCount
    {
      let goesOn = anew ? false : try text.isUnfinished(self.backend)
      var build = try SortedTextBuild(self, entry, text, backend, goesOn: goesOn)
      return try build.run(progress)
    }
    var build = try TextBuild(self, entry, text, anew: anew)
    try build.run(progress)
  }
}

/// A full-text index that is being made from the records, in the order of their file, in commits:
/// of a few objects, or where the backend can't replace a table of any size at once.
///
/// It is committed every so often, with a stamp that says that it is unfinished. Which rows it has
/// by then is told by the lengths of their texts, which are in the same commits: so another process
/// leaves out what is there, whatever the order of the file.
private struct TextBuild {
  /// At most so much is collected in memory before it is committed.
  private static let batchSize = 64 << 20

  private let store: Store
  private let text: RegisteredText
  private let walk: TextWalk
  private var update: TextIndexUpdate
  private var lastRow: UInt32 = 0
  private var batchCount = 0
  /// Texts of rows that came behind a higher one, and how long they are together.
  private var late: [(row: UInt32, texts: [String])] = []
  private var lateBytes = 0

  init(
    _ store: Store, _ entry: RegisteredClass, _ text: RegisteredText, anew: Bool
  ) throws(StoreError) {
    (self.store, self.text) = (store, text)
    let goesOn = anew ? false : try text.isUnfinished(store.backend)
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

  /// Adds the rows that came late, behind a commit of those that came before them.
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
