import Files

extension Store {
  /// Makes the full-text indexes of the registered classes that are missing or out of date.
  ///
  /// Searches and saves do so by themselves when they first need one; this is for doing it at a moment of
  /// your own, and for showing how far it has come. Of a class of more than a million objects it goes
  /// on where an earlier process has stopped.
  ///
  /// Saves of other stores on the backend wait meanwhile.
  ///
  /// Complexity: linear in the number of objects of the classes concerned and the lengths of their
  /// texts. Memory: about 64 MiB.
  ///
  /// - Parameters:
  ///   - anew: Whether indexes that are there are made again, too: after a finding of ``check(progress:)``.
  ///   - progress: Hears how far it has come, in objects.
  /// - Throws: ``StoreError`` with `readOnly`, `damaged`, `newerVersion`, `full`, `ioError` or `closed`.
  public func buildFullTextIndexes(
    anew: Bool = false, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      try backend.coordinator.whileCommitting {
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
  ) throws {
    do {
      if try text.isUsable(entry, backend) { return }
    } catch let error as StoreError where error.isOfIndex {
      return try rebuildText(of: entry, text, progress)
    }
    var build = TextBuild(self, entry, text)
    try build.run(progress)
  }

  /// Makes an index anew, whatever is there; inside the commit lock.
  func rebuildText(
    of entry: RegisteredClass, _ text: RegisteredText,
    _ progress: (IntegrityProgress) -> Void = { _ in }
  ) throws {
    var build = TextBuild(self, entry, text)
    try build.runAnew(progress)
  }
}

/// A full-text index that is being made from the records.
private struct TextBuild {
  /// So much is collected in memory before it is committed.
  private static let batchSize = 64 << 20
  /// Classes with fewer rows are read in the order of their file, which is quicker, and from the
  /// beginning each time; others row by row.
  private static let longCount = 1 << 21

  private let store: Store
  private let entry: RegisteredClass
  private let text: RegisteredText
  private let subject: String
  private var done = 0
  private let total: Int
  /// Texts of rows that came behind a higher one.
  private var late: [(row: UInt32, texts: [String])] = []
  private var lastRow: UInt32 = 0
  /// Whether nothing has been committed.
  private var isNew = true

  init(_ store: Store, _ entry: RegisteredClass, _ text: RegisteredText) {
    (self.store, self.entry, self.text) = (store, entry, text)
    subject = "\(entry.name) full text"
    total = (try? store.backend.recordCount(in: entry.table)) ?? 0
  }

  mutating func run(_ progress: (IntegrityProgress) -> Void) throws {
    if let row = try rowToGoOnAfter() {
      isNew = false
      return try runByRow(after: row, progress)
    }
    try runAnew(progress)
  }

  mutating func runAnew(_ progress: (IntegrityProgress) -> Void) throws {
    if total > Self.longCount {
      try runByRow(after: ClassMetadata.rowID, progress)
    } else {
      try runByFile(progress)
    }
  }

  private mutating func runByFile(_ progress: (IntegrityProgress) -> Void) throws {
    var update = try TextIndexUpdate(text, store.backend, isNew: true)
    var walk = TableWalk(store.backend, entry.table)
    try walk.run { rowID, bytes, range in
      guard rowID > ClassMetadata.rowID else { return }
      var buffer = store.takeWindow(bytes, range)
      let texts = text.texts(of: try store.looseObject(rowID, entry, &buffer))
      if rowID > lastRow {
        update.replace(rowID, nil, texts)
        lastRow = rowID
      } else {
        late.append((rowID, texts))
      }
      advance(progress)
      if update.byteCount > Self.batchSize { try commit(&update, unfinished(row: nil)) }
      if late.count >= 1 << 18 { try addLate(&update) }
    }
    if !late.isEmpty { try addLate(&update) }
    try commit(&update, text.stamp)
    progress(IntegrityProgress(subject, total, of: total))
  }

  /// Adds the rows that came late, in a commit of their own.
  private mutating func addLate(_ update: inout TextIndexUpdate) throws {
    try commit(&update, unfinished(row: nil))
    for (row, texts) in late.sorted(by: { $0.row < $1.row }) { update.replace(row, nil, texts) }
    late = []
    try commit(&update, unfinished(row: nil))
  }

  private mutating func runByRow(
    after first: UInt32, _ progress: (IntegrityProgress) -> Void
  ) throws {
    var update = try TextIndexUpdate(text, store.backend, isNew: isNew)
    var row = first
    let last = entry.shared.lastRowID
    while row < last {
      row += 1
      if let object = try store.savedObject(row, entry) {
        update.replace(row, nil, text.texts(of: object))
        advance(progress)
      }
      if update.byteCount > Self.batchSize { try commit(&update, unfinished(row: row)) }
    }
    try commit(&update, text.stamp)
    progress(IntegrityProgress(subject, total, of: total))
  }

  private mutating func advance(_ progress: (IntegrityProgress) -> Void) {
    done += 1
    if done % 8192 == 0 { progress(IntegrityProgress(subject, done, of: total)) }
  }

  private mutating func commit(_ update: inout TextIndexUpdate, _ stamp: [UInt8]) throws {
    var changes = ChangeSet()
    try update.finish(&changes, stamp: stamp)
    try store.backend.commit(changes)
    isNew = false
    update = try TextIndexUpdate(text, store.backend, isNew: false)
  }

  // MARK: Going on

  private static let unfinishedMark = Array("unfinished ".utf8)

  /// What the stamp says while the index is not whole; the last row that it has is behind.
  private func unfinished(row: UInt32?) -> [UInt8] {
    Self.unfinishedMark + text.stamp + (row.map { [0] + PostingFormat.bytes($0) } ?? [])
  }

  /// The last row that an earlier process has come to; nil when there is nothing to go on with.
  private func rowToGoOnAfter() throws -> UInt32? {
    let found = try? store.backend.withValue(of: PostingFormat.stampKey, in: text.table) {
      [UInt8](copying: $0)
    }
    let mark = Self.unfinishedMark + text.stamp + [0]
    guard let bytes = found ?? nil, bytes.starts(with: mark), bytes.count == mark.count + 4 else {
      return nil
    }
    return bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
