import StoreEngine

/// A walk through the texts of the objects of a class, in file order.
struct TextWalk {
  let store: Store
  let entry: RegisteredClass
  let text: RegisteredText
  /// The rows that the index already has, which are skipped.
  private var known = RowSet()
  private let subject: String
  private let total: Int

  init(
    _ store: Store, _ entry: RegisteredClass, _ text: RegisteredText, without known: [UInt32]
  ) throws(StoreError) {
    (self.store, self.entry, self.text) = (store, entry, text)
    for row in known { self.known.insert(row) }
    subject = "\(entry.name) full text"
    total = try RegisteredText.objectCount(entry, store.backend)
  }

  /// Calls a closure with the texts of each row; an unreadable record counts as empty texts.
  func run(
    _ progress: (IntegrityProgress) -> Void, _ visit: (UInt32, [String]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var done = 0
    var walk = TableWalk(store.backend, entry.table)
    try walk.run { (rowID, bytes, range) throws(StoreError) in
      guard rowID > ClassMetadata.rowID else { return }
      if !known.contains(rowID) {
        var buffer = store.takeWindow(bytes, range)
        let texts = try store.reading(entry, rowID) { () throws(StoreError) in
          text.texts(of: try store.looseObject(rowID, entry, &buffer))
        }
        try visit(rowID, texts ?? text.noTexts)
      }
      done += 1
      if done % 8192 == 0 { progress(IntegrityProgress(subject, done, of: total)) }
    }
    for failure in walk.failures {
      guard let rowID = failure.location.rowID, rowID > ClassMetadata.rowID, !known.contains(rowID)
      else { continue }
      store.noteLeftOut(entry, rowID, failure)
      try visit(rowID, text.noTexts)
    }
  }

  /// Reports that the index is complete.
  func finish(_ progress: (IntegrityProgress) -> Void) {
    progress(IntegrityProgress(subject, total, of: total))
  }
}
