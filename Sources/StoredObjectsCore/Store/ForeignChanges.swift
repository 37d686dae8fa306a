import StoreEngine

/// The saves of other stores on the backend that affect what this store has read or changed.
struct ForeignChanges {
  private struct Class {
    /// Rows that other stores have deleted, and that no store has written since.
    var deleted = RowSet()
    /// Rows that other stores have written since this store last merged, with unknown references.
    var written = RowSet()
    /// Rows that other stores have written, with known references.
    var scanned = RowSet()
    /// Rows of this class that the scanned rows referred to.
    var referred = RowSet()
    /// Rows that unsaved changes depend on without writing them.
    var reliedOn = RowSet()
  }

  /// The classes by class ID; empty as long as nothing is known.
  private var classes: [Class] = []
  /// Objects in memory whose record is newer than their content.
  var outdated = ChangedRows()
  /// Named buffers that others have saved since this store last read or saved them; nil for none.
  var names: Set<ExactName>?
  /// A row that unsaved changes depend on without writing it, and that another store has saved.
  var brokenReliance: ObjectKey?
  /// Whether there may be rows that others have written and this store has not read since.
  private(set) var mayHaveWritten = false
  /// Whether there may be rows that unsaved changes depend on.
  private(set) var mayRely = false
  /// The number of times that deleted rows were found.
  private(set) var deletionCount = 0

  private mutating func update(_ classID: UInt8, _ body: (inout Class) -> Void) {
    while classes.count <= Int(classID) { classes.append(Class()) }
    body(&classes[Int(classID)])
  }

  private func known(_ classID: UInt8) -> Class? {
    Int(classID) < classes.count ? classes[Int(classID)] : nil
  }

  /// Whether nothing is known.
  var isEmpty: Bool { classes.isEmpty && outdated.isEmpty && names == nil }

  // MARK: Deleted rows

  /// Whether other stores have deleted any row of a class.
  func hasDeleted(_ classID: UInt8) -> Bool {
    Int(classID) < classes.count && !classes[Int(classID)].deleted.isEmpty
  }

  /// Whether other stores have deleted a row.
  func isDeleted(_ key: ObjectKey) -> Bool {
    Int(key.classID) < classes.count && classes[Int(key.classID)].deleted.contains(key.rowID)
  }

  /// Notes that a deleted row exists again.
  mutating func restore(_ key: ObjectKey) {
    if isDeleted(key) { update(key.classID) { $0.deleted.remove(key.rowID) } }
  }

  // MARK: News

  /// Adds the changes that other stores have saved to a class.
  mutating func add(_ news: ForeignNews.Table, _ classID: UInt8) {
    update(classID) {
      $0.deleted.subtract(news.written)
      $0.deleted.formUnion(news.deleted)
      $0.written.subtract(news.deleted)
      $0.written.formUnion(news.written)
      $0.scanned.subtract(news.written)
      $0.scanned.subtract(news.deleted)
    }
    if !news.deleted.isEmpty { deletionCount += 1 }
    if !news.written.isEmpty { mayHaveWritten = true }
  }

  // MARK: Rows that unsaved changes depend on

  /// Notes that unsaved changes depend on a row.
  mutating func relyOn(_ key: ObjectKey) {
    mayRely = true
    update(key.classID) { $0.reliedOn.insert(key.rowID) }
  }

  func isReliedOn(_ key: ObjectKey) -> Bool {
    known(key.classID)?.reliedOn.contains(key.rowID) ?? false
  }

  /// The rows of a class that unsaved changes depend on.
  func reliedOn(_ classID: UInt8) -> RowSet { known(classID)?.reliedOn ?? RowSet() }

  /// Forgets the rows that unsaved changes depend on, because there are no unsaved changes anymore.
  mutating func forgetReliance() {
    brokenReliance = nil
    if !mayRely { return }
    mayRely = false
    for index in classes.indices { classes[index].reliedOn = RowSet() }
  }

  // MARK: References that others have saved

  /// Whether other stores have written rows that this store may not have read.
  var hasWritten: Bool {
    mayHaveWritten && classes.contains { !$0.written.isEmpty || !$0.scanned.isEmpty }
  }

  /// The rows of a class that others have written and whose references are not known.
  func unscanned(_ classID: UInt8) -> RowSet { known(classID)?.written ?? RowSet() }

  /// All rows of a class that others have written.
  func written(_ classID: UInt8) -> RowSet {
    var rows = unscanned(classID)
    rows.formUnion(known(classID)?.scanned ?? RowSet())
    return rows
  }

  /// Notes that the references of all rows of a class are known.
  mutating func didScan(_ classID: UInt8) {
    update(classID) {
      $0.scanned.formUnion($0.written)
      $0.written = RowSet()
    }
  }

  /// Notes that a row that others have written refers to this row.
  mutating func noteReference(to key: ObjectKey) {
    update(key.classID) { $0.referred.insert(key.rowID) }
  }

  /// Whether a row that others have written referred to this row.
  func isReferredTo(_ key: ObjectKey) -> Bool {
    known(key.classID)?.referred.contains(key.rowID) ?? false
  }

  /// Forgets that others have written a row, because this store has written or read it.
  mutating func forgetWritten(_ key: ObjectKey) {
    guard known(key.classID) != nil else { return }
    update(key.classID) {
      $0.written.remove(key.rowID)
      $0.scanned.remove(key.rowID)
    }
  }

  /// Forgets all rows that others have written, because this store is up to date.
  mutating func forgetWritten() {
    mayHaveWritten = false
    for index in classes.indices {
      classes[index].written = RowSet()
      classes[index].scanned = RowSet()
      classes[index].referred = RowSet()
    }
  }
}
