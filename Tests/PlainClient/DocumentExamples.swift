#if Macros
  import StoredObjects
  import StoredObjectsDocuments

  /// From BuildingADocumentBasedApp.md.
  enum DocumentExamples {
    @Stored final class Shape: StoredObject {
      var name = ""
      var size = 0
    }

    static let sketch = DocumentType(
      "Sketch", identifier: "org.example.Sketch", fileExtension: "sketch",
      mimeType: "application/x-example-sketch", classes: [Shape.self],
      backend: TokyoCabinetBackend.self)
  }

  /// A window of an application, as the page describes it.
  @MainActor final class DocumentWindow {
    var document: StoredDocument
    var (title, showsDot) = ("", false)

    init() throws {
      document = try StoredDocument(untitled: DocumentExamples.sketch)
      follow()
    }

    init(opening path: String) throws {
      document = try StoredDocument(
        opening: path, as: DocumentExamples.sketch, access: .editingIfPossible)
      if let editor = document.editor { title = "\(editor) edits this document" }
      follow()
    }

    static func drafts() throws -> [DocumentWindow] {
      try StoredDocument.drafts(of: DocumentExamples.sketch).map { draft in
        try DocumentWindow(opening: draft.path)
      }
    }

    private func follow() {
      document.onEvent = { [weak self] event in
        guard let self else { return }
        switch event {
        case .edited(let isEdited): showsDot = isEdited
        case .moved: title = document.title
        default: break
        }
      }
      Task { await document.autosave(after: .seconds(5)) }
    }

    func addShape() {
      document.undoManager?.group("Add shape") {
        document.store.insert(DocumentExamples.Shape())
      }
    }

    func save(as path: String) async throws {
      try await document.save(as: path)
      addShape()
      try document.save()
      if let first = document.versions.first {
        _ = try document.snapshot(of: first).makeStore()
        try document.revert(to: first)
      }
    }

    func send(_ archive: String, to copy: String) async throws {
      _ = try await document.duplicate()
      try await document.export(to: archive, replacing: true)
      try await StoredDocument.importArchive(archive, to: copy, as: DocumentExamples.sketch)
    }

    func close() async throws {
      do {
        try await document.close()
      } catch  where error.code == .unsavedChanges {
        try await document.close(.saving)
      }
    }
  }
#endif
