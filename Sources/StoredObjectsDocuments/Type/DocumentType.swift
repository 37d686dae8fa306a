package import Files
public import StoredObjectsCore

/// A kind of document that an application edits: its name on the desktop, and its classes.
///
///     extension DocumentType {
///       static let sketch = DocumentType(
///         "Sketch", identifier: "org.example.Sketch", fileExtension: "sketch",
///         mimeType: "application/x-example-sketch", classes: [Shape.self],
///         backend: TokyoCabinetBackend.self)
///     }
///
/// Declare it once, and pass it to every call that opens a document.
public struct DocumentType: Sendable {
  /// A closure that opens or creates the store of a document in a directory.
  public typealias BackendOpening =
    @Sendable (
      _ directory: String, _ access: StoreAccess, _ key: (any StoreKey)?
    ) throws(StoreError) -> any DirectoryBackend

  /// The name for users, as in "Sketch".
  public var name: String
  /// The name of the type in documents, and of its files in the desktop's folders.
  ///
  /// It has the form of a desktop file ID, as in "org.example.Sketch". Letters, digits, dots,
  /// hyphens and underscores are allowed. It must never change.
  public let identifier: String
  /// The extension of the names of documents, without the dot.
  public var fileExtension: String
  /// The MIME type of documents and of their archives, as in "application/x-example-sketch".
  public var mimeType: String
  /// The name of the icon in the icon theme; nil for the theme's icon of the MIME type.
  public var iconName: String?
  /// The classes of the objects in a document.
  public var classes: [StoredObject.Type]
  /// The closure that opens or creates the store of a document.
  public var openBackend: BackendOpening
  /// The configuration of a document's stores.
  public var configuration = StoreConfiguration()
  /// The steps that bring documents of earlier versions of the program up to date.
  ///
  /// They run when a document is opened for editing. See *Migrating a Store* in
  /// ``/StoredObjectsCore``.
  public var migrations: [Migration] = []
  /// The version of the document format, which you raise when earlier programs must not open new
  /// documents; 1 by default.
  public var formatVersion = 1
  /// The version of the program, for information; nil if unknown.
  public var programVersion: String?
  /// Whether documents keep their versions in a history; true by default.
  ///
  /// Without versions, an autosave can't be taken back. See <doc:VersionsAndAutosave>.
  public var keepsVersions = true
  /// The rule for the versions to keep when an unedited document is closed; nil keeps all.
  public var versionRetention: HistoryRetention?
  /// The closure that makes the previews of a document; nil if it has none.
  ///
  /// It runs after saves, on a thread of the document, with a store that reads the saved state. By
  /// default it is ``DocumentPreview/summary(of:as:title:)``.
  public var makePreview: PreviewMaking? = DocumentPreview.summary
  /// Whether encrypted documents have previews; false by default, because previews are not
  /// encrypted.
  public var showsPreviewsOfEncrypted = false
  /// The folder of untitled documents; nil for `$XDG_STATE_HOME/<identifier>/Drafts`.
  public var draftsFolder: String?
  /// The file system of documents; only tests use another one.
  package var fileSystem: any FileSystem = SystemFiles.shared

  /// A closure that makes the previews of a document.
  ///
  /// - Parameters:
  ///   - store: A store that reads the saved state. It must not be changed.
  ///   - type: The type of the document.
  ///   - title: The name of the document without its extension.
  public typealias PreviewMaking =
    @Sendable (
      _ store: Store, _ type: DocumentType, _ title: String
    ) throws -> DocumentPreview

  /// Creates a type whose documents have stores of a given format.
  ///
  /// - Parameters:
  ///   - name: The name for users.
  ///   - identifier: The name of the type in documents, as in "org.example.Sketch".
  ///   - fileExtension: The extension, without the dot.
  ///   - mimeType: The MIME type.
  ///   - classes: The classes of the objects in a document.
  ///   - backend: The backend, such as `TokyoCabinetBackend.self`.
  ///   - durability: The durability of saves.
  /// - Precondition: The identifier, the extension and the MIME type are valid.
  public init(
    _ name: String, identifier: String, fileExtension: String, mimeType: String,
    classes: [StoredObject.Type], backend: any DirectoryBackend.Type,
    durability: Durability = .full
  ) {
    self.init(
      name, identifier: identifier, fileExtension: fileExtension, mimeType: mimeType,
      classes: classes
    ) { (directory, access, key) throws(StoreError) in
      try backend.init(
        directory: directory, access: access, createIfMissing: access == .readWrite,
        durability: durability, limits: CheckpointLimits(), key: key)
    }
  }

  /// Creates a type whose stores a closure opens, for a backend with settings of its own.
  ///
  /// - Parameters:
  ///   - name: The name for users.
  ///   - identifier: The name of the type in documents, as in "org.example.Sketch".
  ///   - fileExtension: The extension, without the dot.
  ///   - mimeType: The MIME type.
  ///   - classes: The classes of the objects in a document.
  ///   - openBackend: Opens a directory exclusively, and creates it if it is missing.
  /// - Precondition: The identifier, the extension and the MIME type are valid.
  public init(
    _ name: String, identifier: String, fileExtension: String, mimeType: String,
    classes: [StoredObject.Type], openBackend: @escaping BackendOpening
  ) {
    precondition(Self.isIdentifier(identifier), "\(identifier) is not a valid identifier")
    precondition(
      !fileExtension.isEmpty && Self.isIdentifier(fileExtension),
      "\(fileExtension) is not a valid extension")
    precondition(Self.isMIMEType(mimeType), "\(mimeType) is not a valid MIME type")
    (self.name, self.identifier, self.fileExtension) = (name, identifier, fileExtension)
    (self.mimeType, self.classes, self.openBackend) = (mimeType, classes, openBackend)
  }

  private static func isIdentifier(_ text: String) -> Bool {
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isValid && !text.isEmpty && !text.hasPrefix(".") && text.utf8.count <= 100
  }

  private static func isMIMEType(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && text.utf8.count <= 200
      && parts.allSatisfy { isIdentifier(String($0).split(separator: "+").joined(separator: "-")) }
  }
}
