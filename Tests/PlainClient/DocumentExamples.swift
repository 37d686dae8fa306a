// The code of the pages of StoredObjectsDocuments, unchanged. It is compiled, and not run.

#if Macros
  import StoredObjects
  import StoredObjectsDocuments
  import StoredObjectsEncryption

  @Stored final class Shape: StoredObject {
    var name = ""
    var size = 0
  }

  extension DocumentType {
    static let sketch = DocumentType(
      "Sketch", identifier: "org.example.Sketch", fileExtension: "sketch",
      mimeType: "application/x-example-sketch", classes: [Shape.self],
      backend: TokyoCabinetBackend.self)
  }

  /// A window of an app.
  @MainActor final class DocumentWindow {
    var (title, showsDot) = ("", false)
    func show(_ text: String) {}
    func show(_ error: any Error) {}
    func reload() {}
  }

  /// The windows of an app.
  @MainActor final class DocumentWindows {
    func show(_ document: StoredDocument) {}
  }

  /// From BuildingADocumentBasedApp.md and StoredObjectsDocuments.md.
  @MainActor enum DocumentExamples {
    enum Answer { case save, discard, cancel }

    static func start() async throws {
      let document = try StoredDocument(untitled: .sketch)
      document.store.insert(Shape())
      try await document.save(as: "Ship.sketch")
    }

    static func open(_ path: String) throws {
      let document = try StoredDocument(untitled: .sketch)
      let other = try StoredDocument(opening: path, as: .sketch)
      _ = (document, other)
    }

    static func restore(_ windows: DocumentWindows) throws {
      for draft in try StoredDocument.drafts(of: .sketch) {
        windows.show(try StoredDocument(opening: draft.path, as: .sketch))
      }
    }

    static func show(_ path: String, in window: DocumentWindow) throws {
      let document = try StoredDocument(opening: path, as: .sketch, access: .editingIfPossible)
      if let editor = document.editor { window.show("\(editor) edits this document.") }
    }

    static func edit(_ document: StoredDocument) async throws {
      document.undoManager?.group("Add shape") { document.store.insert(Shape()) }

      try document.save()
      try await document.save(as: "Ship.sketch")
    }

    static func follow(_ document: StoredDocument, _ window: DocumentWindow) {
      document.onEvent = { event in
        switch event {
        case .edited(let isEdited): window.showsDot = isEdited
        case .moved: window.title = document.title
        case .storeReplaced: window.reload()
        case .autosaveFailed(let error): window.show(error)
        default: break
        }
      }

      Task { await document.autosave(after: .seconds(5)) }
    }

    static func close(_ document: StoredDocument, _ askUser: () -> Answer) async throws {
      do {
        try await document.close()
      } catch {
        guard error.code == .unsavedChanges else { throw error }
        switch askUser() {
        case .save: try await document.close(.saving)
        case .discard: try await document.close(.discarding)
        case .cancel: break
        }
      }
    }

    static func send(_ document: StoredDocument) async throws {
      let copy = try await document.duplicate()
      try await document.export(to: "Ship.zip", replacing: true)
      try await StoredDocument.importArchive("Ship.zip", to: "Copy.sketch", as: .sketch)
      _ = copy
    }

    static func encrypt(_ phrase: String) throws {
      let document = try StoredDocument(untitled: .sketch, key: EncryptionKey(passphrase: phrase))
      _ = document
    }

    static func importOld() throws {
      let document = try StoredDocument(importingStore: "Old.sketch", as: .sketch)
      _ = document
    }
  }

  /// From VersionsAndAutosave.md and ShowingDocumentsOnTheDesktop.md.
  @MainActor enum VersionExamples {
    static func goBack(_ document: StoredDocument) throws {
      for version in document.versions { print(version.date, version.name ?? "") }

      let before = try document.snapshot(of: document.versions[0]).makeStore()  // to look at
      try document.revert(to: document.versions[0])  // to go back
      _ = before
    }

    static func forget(_ document: StoredDocument, _ version: DocumentVersion) throws {
      try document.removeVersions(before: version)
    }

    static func declare() {
      var type = DocumentType.sketch
      type.versionRetention = HistoryRetention(age: .seconds(90 * 86_400))
      type.makePreview = { store, type, title in
        var preview = try DocumentPreview.summary(of: store, as: type, title: title)
        preview.png = try draw(store, width: 256)
        return preview
      }
    }

    nonisolated static func draw(_ store: Store, width: Int) throws -> [UInt8] { [] }

    static func install(_ arguments: [String]) throws {
      try DesktopFiles(for: .sketch, program: "/usr/bin/sketch").install()

      if arguments[1] == "--thumbnail" { try Thumbnail.write(of: arguments[2], to: arguments[3]) }
    }
  }
#endif
