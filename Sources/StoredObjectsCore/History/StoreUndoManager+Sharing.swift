// Steps that are affected by other stores on the backend.

import StoreEngine

extension StoreUndoManager {
  /// Records rows of a class that other stores have saved, which earlier steps would overwrite.
  func noteForeignChanges(_ news: ForeignNews.Table, _ entry: RegisteredClass) {
    guard canUndo || canRedo || !saved.isEmpty else { return }
    othersHaveSaved = true
    var rows = news.changed
    // A deleted object may have been restored, which is an insertion.
    for step in [current] + undoSteps + redoSteps + saved.undo + saved.redo {
      for key in step.keys where key.classID == entry.classID && news.written.contains(key.rowID) {
        rows.insert(key.rowID)
      }
    }
    rows.forEach { row in
      let key = ObjectKey(classID: entry.classID, rowID: row)
      // The current step counts as one of the steps before.
      foreignChanges[key] = firstSerial + undoSteps.count + (current.knows(key) ? 1 : 0)
      saved.foreignChanges[key] = saved.undo.count
    }
    forgetRedo { step in
      step.keys.contains { $0.classID == entry.classID && rows.contains($0.rowID) }
    }
  }

  /// Records named buffers that other stores have saved.
  func noteForeignChanges(_ names: Set<ExactName>) {
    guard canUndo || canRedo || !saved.isEmpty else { return }
    for name in names {
      saved.foreignNames[name] = saved.undo.count
      foreignNames[name] =
        firstSerial + undoSteps.count + (current.names[name] == nil ? 0 : 1)
    }
    forgetRedo { !names.isDisjoint(with: $0.names.keys) }
  }

  /// Removes redo steps that are affected by saves of other stores, also from the saved history.
  private func forgetRedo(where isConcerned: (UndoStep) -> Bool) {
    if redoSteps.contains(where: isConcerned) { redoSteps = [] }
    if saved.redo.contains(where: isConcerned) { saved.redo = [] }
  }

  func checkForForeignChanges(to step: UndoStep) throws(StoreError) {
    let serial = firstSerial + undoSteps.count - 1
    for name in step.names.keys where foreignNames[name].map({ $0 > serial }) == true {
      throw Self.changedBuffer(name)
    }
    for key in step.keys where foreignChanges[key].map({ $0 > serial }) == true {
      throw StoreError(
        .conflict,
        """
        Another store has changed the object since, so the step can't be taken back. \
        removeAllActions() clears the undo history.
        """, at: store?.registration(classID: key.classID)?.location(key.rowID) ?? .init())
    }
  }

  /// Returns the error of a step whose buffer has changed since.
  static func changedBuffer(_ name: ExactName) -> StoreError {
    StoreError(
      .conflict,
      """
      Something else has changed the buffer "\(name.text)" since the step, so the step can't be \
      taken back. removeAllActions() clears the undo history.
      """)
  }
}
