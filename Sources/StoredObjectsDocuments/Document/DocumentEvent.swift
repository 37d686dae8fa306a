/// Something that has happened to an open document, for its windows to show.
public enum DocumentEvent: Sendable {
  /// Whether the document is edited has changed; see ``StoredDocument/isEdited``.
  case edited(Bool)
  /// Unsaved changes were saved automatically.
  case autosaved
  /// Unsaved changes could not be saved automatically; the next attempt follows.
  case autosaveFailed(DocumentError)
  /// The document has another path: it was moved or renamed, here or by another program.
  case moved(to: String)
  /// The document was removed by another program. Changes can no longer be saved.
  case removed
  /// Another process has saved to a document that is open for reading only: see
  /// ``StoredDocument/reload(isolation:)``.
  case changedElsewhere
  /// The document has a new ``StoredDocument/store``: show its objects again, by their IDs.
  case storeReplaced
}
