import Files
import Locks
import StoreEngine
public import StoredObjectsCore

/// A document that keeps its objects in a store, as one folder that users see as a file.
///
///     let document = try StoredDocument(opening: "Ship.sketch", as: .sketch)
///     let shape = Shape()
///     document.store.insert(shape)
///     try document.save()
///
/// The objects are those of ``store``, which is an ordinary `Store` with an undo manager. A
/// document adds the things that users expect of a file: saving under another name, reverting,
/// versions, autosave, a lock, previews, and an archive of one file. See
/// <doc:BuildingADocumentBasedApp>.
///
/// A document belongs to one isolation domain, like its store: usually the main actor.
public final class StoredDocument {
  /// The type of the document.
  public let type: DocumentType
  /// The store with the document's objects.
  ///
  /// It is replaced in a few cases, see ``DocumentEvent/storeReplaced``.
  public internal(set) var store: Store
  /// The container of the document's stores, for work in the background.
  public internal(set) var container: StoreContainer
  /// Whether the document has no name yet.
  public internal(set) var isUntitled: Bool
  /// Whether the document is open for reading only.
  public internal(set) var isReadOnly: Bool
  /// The process that edits the document, if this is the reason why it is open for reading only.
  public internal(set) var editor: DocumentEditor?
  /// A closure that is called when something happens to the document, in its isolation domain.
  public var onEvent: ((DocumentEvent) -> Void)?
  /// The delegate of the store; the document itself is the delegate that the store knows.
  public weak var storeDelegate: (any StoreDelegate)?

  var package: DocumentPackage
  var manifest: DocumentManifest
  var versionList: VersionList
  /// The commits that have been searched for edits.
  var editSearch = EditSearch()
  let key: (any StoreKey)?
  let thread: DocumentThread
  var previews: PreviewWriter?
  /// The state of the files when a document for reading was opened.
  var stamp: StoreStamp?
  var wasEdited = false
  /// Whether the document saves its store, which reports changes meanwhile.
  var isSaving = false
  /// Whether the document has been closed.
  public internal(set) var isClosed = false
  /// Called for each edit, for the autosave.
  let edits = EditSignal()
  private var observer: StoreObserver?

  /// Creates a document around an open package.
  init(
    _ type: DocumentType, _ opened: OpenedPackage, isUntitled: Bool, thread: DocumentThread
  ) throws(DocumentError) {
    (self.type, self.isUntitled, self.thread) = (type, isUntitled, thread)
    (package, manifest, versionList) = (opened.package, opened.manifest, opened.versions)
    (container, key, stamp) = (opened.container, opened.key, opened.stamp)
    (isReadOnly, editor) = (!opened.package.isLocked, opened.editor)
    do throws(StoreError) {
      store = try opened.container.makeStore()
    } catch {
      try? opened.container.backend.close()
      throw DocumentError(error, at: opened.package.path)
    }
    if !isReadOnly { previews = PreviewWriter(type, thread, isEncrypted: opened.key != nil) }
    useStore()
    wasEdited = isEdited
  }

  /// The path of the document.
  ///
  /// It changes when the document is saved under another name or moved, also by other programs: see
  /// ``checkFiles()``.
  public var path: String { package.path }

  /// The name for windows: that of the folder without its extension, or "Untitled".
  public var title: String { isUntitled ? "Untitled" : Self.title(of: path, as: type) }

  static func title(of path: String, as type: DocumentType) -> String {
    let name = lastComponent(of: path)
    let suffix = "." + type.fileExtension
    return name.hasSuffix(suffix) && name != suffix ? String(name.dropLast(suffix.count)) : name
  }

  /// The undo manager of the store, which the document has set.
  public var undoManager: StoreUndoManager? { store.undoManager }

  /// The backend of the store.
  var backend: any StoreBackend { container.backend }

  /// Sets up a new store.
  func useStore() {
    if !isReadOnly { store.undoManager = StoreUndoManager() }
    let observer = StoreObserver(self)
    (self.observer, store.delegate) = (observer, observer)
  }

  func requireEditing() throws(DocumentError) {
    try requireOpen()
    if isReadOnly {
      throw DocumentError(
        .readOnly, "The document is open for reading only: save it under another name.", at: path,
        editor: editor)
    }
  }

  func requireOpen() throws(DocumentError) {
    if isClosed { throw DocumentError.closed(path) }
  }

  /// Reports whether the document is edited, if that has changed.
  func tellEdited() {
    let isEdited = isEdited
    if isEdited == wasEdited { return }
    wasEdited = isEdited
    onEvent?(.edited(isEdited))
  }
}

@available(*, unavailable) extension StoredDocument: Sendable {}
