/// An error of a store: what happened, where, and what to do about it.
///
/// Match the code, and print the description:
///
///     do {
///       try store.saveChanges()
///     } catch {
///       guard error.code == .noSpace else { throw error }
///       print("No room left: \(error)")
///     }
///
/// The description names the place (file, class, row, offset) and the remedy, but never the content
/// of a record.
///
/// An error is as large as a reference, so a function that can throw it costs nothing while it
/// doesn't.
public struct StoreError: Error, Sendable {
  private let content: Content

  /// The kind of error.
  public var code: Code { content.code }
  /// A description of what happened and what to do, in a sentence or two.
  public var message: String { content.message }
  /// The place of the error, as far as it is known.
  public var location: Location { content.location }
  /// The error of a lower layer that caused this one.
  public var underlying: (any Error)? { content.underlying }

  private final class Content: Sendable {
    let code: Code
    let message: String
    let location: Location
    let underlying: (any Error)?

    init(_ code: Code, _ message: String, _ location: Location, _ underlying: (any Error)?) {
      (self.code, self.message) = (code, message)
      (self.location, self.underlying) = (location, underlying)
    }
  }

  /// The place of an error.
  public struct Location: Sendable, Hashable {
    /// The file or directory.
    public var path: String?
    /// The class, by its stored name.
    public var className: String?
    /// The row ID, from 1.
    public var rowID: UInt32?
    /// Another row of the class that the error is about, such as the one with the same unique value.
    package var otherRowID: UInt32?
    /// The byte offset inside the record, from its first byte.
    public var offset: Int?
    /// The line of a text file, from 1.
    public var line: Int?
    /// The property of the class.
    public var property: String?
    /// The table of a key-value store.
    public var table: String?
    /// The key of an item in a table.
    public var key: String?

    /// Creates a location from what is known.
    public init(
      path: String? = nil, className: String? = nil, rowID: UInt32? = nil, offset: Int? = nil,
      line: Int? = nil, property: String? = nil, table: String? = nil, key: String? = nil
    ) {
      self.path = path
      self.className = className
      self.rowID = rowID
      self.offset = offset
      self.line = line
      self.property = property
      (self.table, self.key) = (table, key)
    }
  }

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, at location: Location = Location(),
    underlying: (any Error)? = nil
  ) {
    content = Content(code, message, location, underlying)
  }
}

extension StoreError {
  /// The kinds of error.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String

    /// The backend has been closed.
    public static let closed = Code(description: "closed")
    /// Another process, or another backend in this one, has the files open.
    public static let inUse = Code(description: "inUse")
    /// The store was opened for reading only.
    public static let readOnly = Code(description: "readOnly")
    /// The operating system refused a read or a write.
    public static let ioError = Code(description: "ioError")
    /// The disk or a limit on the file's size leaves no room.
    public static let noSpace = Code(description: "noSpace")
    /// The disk failed in an earlier save: close the backend and open it again.
    public static let reopenNeeded = Code(description: "reopenNeeded")
    /// The process was forked after the backend was opened; the backend belongs to the parent.
    ///
    /// Open the store again.
    public static let forked = Code(description: "forked")
    /// Bytes on disk are not valid.
    public static let damaged = Code(description: "damaged")
    /// The store is encrypted, and was opened without a key.
    public static let encrypted = Code(description: "encrypted")
    /// A key was given for a store that is not encrypted.
    public static let notEncrypted = Code(description: "notEncrypted")
    /// The passphrase or key is not that of the store.
    public static let wrongKey = Code(description: "wrongKey")
    /// Part of an encrypted store is not what was sealed in its place: it was changed or moved.
    public static let notAuthentic = Code(description: "notAuthentic")
    /// A record, a named buffer, or a key with its value is larger than the backend can keep.
    public static let tooLarge = Code(description: "tooLarge")
    /// A name can't be used for a class or a buffer.
    public static let invalidName = Code(description: "invalidName")
    /// An insert met an existing row.
    public static let rowExists = Code(description: "rowExists")

    /// A class was used that is not registered with the store.
    public static let notRegistered = Code(description: "notRegistered")
    /// A class, or its name, was registered twice.
    public static let registeredTwice = Code(description: "registeredTwice")
    /// Two classes in a store have the same class ID.
    public static let classOrder = Code(description: "classOrder")
    /// The properties of a class can't be found in saved records, or not without loss.
    public static let changedLayout = Code(description: "changedLayout")
    /// A class writes something other than its layout declares.
    public static let invalidLayout = Code(description: "invalidLayout")
    /// More than 255 classes were registered.
    public static let tooManyClasses = Code(description: "tooManyClasses")

    /// The store has an unfinished migration.
    public static let unfinishedMigration = Code(description: "unfinishedMigration")
    /// The store has run migrations in another order than the program declares.
    public static let migrationOrder = Code(description: "migrationOrder")

    /// The record of an object is missing.
    public static let recordMissing = Code(description: "recordMissing")
    /// A newer version of a class wrote a record, or a later release wrote a server's tables.
    public static let newerVersion = Code(description: "newerVersion")
    /// An object could not be encoded.
    public static let notEncodable = Code(description: "notEncodable")
    /// A deleted object still refers to others, and its delete rule denies that.
    public static let deleteDenied = Code(description: "deleteDenied")
    /// Two objects have the same values where they must be unique.
    public static let notUnique = Code(description: "notUnique")
    /// Part of a predicate has thrown an error for an object.
    public static let notEvaluable = Code(description: "notEvaluable")
    /// A line of a file to import is not JSON, or not in the form of an export.
    public static let invalidJSON = Code(description: "invalidJSON")
    /// A property can't have the value to import: wrong type, out of range, or a missing object.
    public static let invalidValue = Code(description: "invalidValue")
    /// A limit or an offset is negative, or the class has no such name.
    public static let invalidArgument = Code(description: "invalidArgument")
    /// A search query can't be parsed; the offset gives the place, in characters.
    public static let invalidQuery = Code(description: "invalidQuery")
    /// Content could not be read when it was needed, and the failure is not acknowledged yet.
    public static let contentUnavailable = Code(description: "contentUnavailable")
    /// Other stores have committed changes to the data that this change is based on.
    public static let conflict = Code(description: "conflict")
    /// The changes since a commit are no longer known: read everything again.
    public static let historyExpired = Code(description: "historyExpired")
    /// The history is that of another store, or of a copy that has diverged.
    public static let otherHistory = Code(description: "otherHistory")
    /// The operation needs a store without unsaved changes.
    public static let unsavedChanges = Code(description: "unsavedChanges")
    /// A class has used all of its 4,294,967,294 row IDs.
    public static let rowIDsExhausted = Code(description: "rowIDsExhausted")

    /// A key-value store has no table of this name, or it has been dropped.
    public static let noSuchTable = Code(description: "noSuchTable")
    /// The value of an item is of another type than the requested one.
    public static let typeMismatch = Code(description: "typeMismatch")
    /// The expiry time of an item is not in the future.
    public static let invalidExpiry = Code(description: "invalidExpiry")
    /// A write to a key-value store began inside another one, or a save inside a transaction.
    public static let nestedWrite = Code(description: "nestedWrite")
    /// The task was cancelled before its write began.
    public static let cancelled = Code(description: "cancelled")
  }
}

extension StoreError: CustomStringConvertible {
  /// The code, the place, the message, and the cause.
  public var description: String {
    var text = "\(code)"
    if !location.text.isEmpty { text += " [\(location.text)]" }
    text += ": \(message)"
    if let underlying { text += " (\(underlying))" }
    return text
  }
}
