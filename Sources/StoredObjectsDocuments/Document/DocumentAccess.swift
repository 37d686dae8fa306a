/// The access to a document that is opened.
public enum DocumentAccess: Sendable, Hashable {
  /// Reading and writing, by one process; throws `inUse` if another one edits the document.
  case editing
  /// Reading only, as of the last save or autosave.
  case reading
  /// Editing, or reading if another process edits the document.
  case editingIfPossible
}

/// The treatment of unsaved changes when a document is closed.
public enum DocumentClosing: Sendable, Hashable {
  /// Throws `unsavedChanges` if the document is edited, so that you can ask the user.
  case ifUnedited
  /// Saves the changes; throws `untitled` for a document without a name.
  case saving
  /// Takes back everything since the last save, and removes an untitled document.
  case discarding
  /// Keeps the changes as they are, without a save.
  ///
  /// They are saved as by an autosave, and the document is edited when it is opened again. An
  /// untitled document stays in the list of drafts.
  case keepingChanges
}
