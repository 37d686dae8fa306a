// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsDocuments

  enum DocumentComments {
    static var document: StoredDocument = notRun()
    static var path: String = notRun()
    static var version: DocumentVersion = notRun()

    /// From StoredDocument+Exporting.swift.
    static func storedDocumentExportingExample() async throws {
      try await document.export(to: "Ship.sketch.zip")
    }

    /// From StoredDocument+Exporting.swift.
    static func storedDocumentExporting2Example() async throws {
      try await StoredDocument.importArchive("Ship.sketch.zip", to: "Ship.sketch", as: .sketch)
      let document = try StoredDocument(opening: "Ship.sketch", as: .sketch)
      _ = document
    }

    /// From DesktopFiles.swift.
    static func desktopFilesExample() throws {
      let files = DesktopFiles(for: .sketch, program: "/usr/bin/sketch")
      try files.install()
      _ = files
    }

    /// From Thumbnail.swift.
    static func thumbnailExample() throws {
      let arguments = CommandLine.arguments  // --thumbnail input output size
      try Thumbnail.write(of: arguments[2], to: arguments[3])
      _ = arguments
    }

    /// From StoredDocument+Closing.swift.
    static func storedDocumentClosingExample() async throws {
      do {
        try await document.close()
      } catch {
        guard error.code == .unsavedChanges else { throw error }
        // Ask the user, then: try await document.close(.saving)
      }
    }

    /// From StoredDocument+Opening.swift.
    static func storedDocumentOpeningExample() throws {
      let document = try StoredDocument(opening: "Ship.sketch", as: .sketch)
      _ = document
    }

    /// From StoredDocument+Versions.swift.
    static func storedDocumentVersionsExample() throws {
      let store = try document.snapshot(of: version).makeStore()
      _ = store
    }

    /// From StoredDocument.swift.
    static func storedDocumentExample() throws {
      let document = try StoredDocument(opening: "Ship.sketch", as: .sketch)
      let shape = Shape()
      document.store.insert(shape)
      try document.save()
      _ = (document, shape)
    }

    /// From DocumentError.swift.
    static func documentErrorExample() throws {
      do {
        document = try StoredDocument(opening: path, as: .sketch)
      } catch {
        guard error.code == .inUse else { throw error }
        document = try StoredDocument(opening: path, as: .sketch, access: .reading)
      }
    }

    /// From PreviewFiles.swift.
    static func previewFilesExample() throws {
      let words = try DocumentPreview(of: "Ship.sketch").text
      _ = words
    }
  }
#endif
