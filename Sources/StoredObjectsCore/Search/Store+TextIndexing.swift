// Full-text indexes are updated in the same save as their objects.

import StoreEngine

extension Store {
  /// Adds the changes of full-text indexes for the pending changes.
  ///
  /// Requires the commit lock, so that the saved data does not change meanwhile.
  func addTextChanges(to changes: inout ChangeSet) throws(StoreError) {
    for entry in classes where !entry.changeCounts.isEmpty {
      guard let text = entry.fullText else { continue }
      let before = (changes.bytes.count, changes.ordered.count)
      do {
        try addTextChanges(of: entry, text, to: &changes)
      } catch  where error.isOfIndex {
        changes.bytes.removeLast(changes.bytes.count - before.0)
        changes.ordered.removeLast(changes.ordered.count - before.1)
        try rebuildText(of: entry, text)
        try addTextChanges(of: entry, text, to: &changes)
      }
    }
  }

  private func addTextChanges(
    of entry: RegisteredClass, _ text: RegisteredText, to changes: inout ChangeSet
  ) throws(StoreError) {
    let isNew = try RegisteredText.objectCount(entry, backend) == 0
    if !isNew { try buildTextIfNeeded(of: entry, text) }
    var update = try TextIndexUpdate(text, backend, isNew: isNew)
    for object in entry.changed.sorted(by: { $0.rowID < $1.rowID }) {
      let (change, row) = (object.state.change, object.rowID)
      var old: [String]?
      if change != .insert {
        let saved = try reading(entry, row) { () throws(StoreError) in
          try savedTexts(row, entry, text)
        }
        // A record that was left out is in the index without words. Otherwise it is unknown which
        // words to remove: the table is cleared, and the index is rebuilt when it is next needed.
        if let saved {
          old = saved
        } else if let leftOut = try text.textsLeftOut(row, backend) {
          old = leftOut
        } else {
          return changes.clear(text.table)
        }
      }
      update.replace(row, old, change == .delete ? nil : text.texts(of: object))
    }
    try update.finish(&changes, stamp: text.stamp)
  }

  /// Returns the texts of a row as saved, or nil if there is no record.
  private func savedTexts(
    _ rowID: UInt32, _ entry: RegisteredClass, _ text: RegisteredText
  ) throws(StoreError) -> [String]? {
    try savedObject(rowID, entry).map { text.texts(of: $0) }
  }
}
