/// An error of a document: what happened, where, and what to do about it.
///
/// Match the code, and show the description to the user:
///
///     do {
///       document = try StoredDocument(opening: path, as: .sketch)
///     } catch {
///       guard error.code == .inUse else { throw error }
///       document = try StoredDocument(opening: path, as: .sketch, access: .reading)
///     }
///
/// A failed operation has changed nothing, unless its documentation says otherwise.
public struct DocumentError: Error, Sendable {
  /// The kind of error.
  public let code: Code
  /// A description of what happened and what to do, in a sentence or two.
  public let message: String
  /// The document, archive or folder.
  public let path: String
  /// The error of a lower layer that caused this one, such as a `StoreError`.
  public let underlying: (any Error)?
  /// The process that edits the document, for ``Code/inUse``.
  public let editor: DocumentEditor?

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, at path: String, underlying: (any Error)? = nil,
    editor: DocumentEditor? = nil
  ) {
    (self.code, self.message, self.path) = (code, message, path)
    (self.underlying, self.editor) = (underlying, editor)
  }

  /// The kinds of error.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String

    /// There is no document at the path, or it has been removed while it was open.
    public static let missing = Code(description: "missing")
    /// The path leads to something that is not a document.
    public static let notADocument = Code(description: "notADocument")
    /// The document is of another type.
    public static let otherType = Code(description: "otherType")
    /// A newer version of the program has made the document.
    public static let newerVersion = Code(description: "newerVersion")
    /// A file of the document is damaged.
    public static let damaged = Code(description: "damaged")
    /// Another process, or another `StoredDocument` of this one, edits the document.
    public static let inUse = Code(description: "inUse")
    /// The document was opened for reading only.
    public static let readOnly = Code(description: "readOnly")
    /// There is something at the path already.
    public static let exists = Code(description: "exists")
    /// The document has no name yet.
    public static let untitled = Code(description: "untitled")
    /// The operation needs a document without unsaved changes.
    public static let unsavedChanges = Code(description: "unsavedChanges")
    /// The document keeps no versions, or not this one.
    public static let noSuchVersion = Code(description: "noSuchVersion")
    /// The document has been closed.
    public static let closed = Code(description: "closed")
    /// The archive is damaged, or it is not one of a document.
    public static let invalidArchive = Code(description: "invalidArchive")
    /// The archive is larger than the limit.
    public static let tooLarge = Code(description: "tooLarge")
    /// The document has no preview of the requested kind.
    public static let noPreview = Code(description: "noPreview")
    /// The task was cancelled.
    public static let cancelled = Code(description: "cancelled")
    /// The disk or a limit on the file's size leaves no room.
    public static let noSpace = Code(description: "noSpace")
    /// The operating system refused an operation.
    public static let ioError = Code(description: "ioError")
    /// The store refused an operation; see the underlying `StoreError`.
    public static let store = Code(description: "store")
  }
}

extension DocumentError: CustomStringConvertible {
  /// The code, the path, the message, and the cause.
  public var description: String {
    let text = "\(code) [\(path)]: \(message)"
    return underlying.map { "\(text) (\($0))" } ?? text
  }
}
