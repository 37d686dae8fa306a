import Files

/// An error of Tokyo Cabinet: what happened, in which call, on which file, and what to do about it.
///
/// Match the ``code``, and print the description:
///
///     do {
///       print(try HashDatabase(path: "Song").count)
///     } catch let error as TokyoCabinetError where error.code == .inUse {
///       print("Quit the other program first: \(error)")
///     }
public struct TokyoCabinetError: Error, Sendable {
  /// The kind of error.
  public let code: Code
  /// The call that failed, by its name in C or in this module.
  public let operation: String
  /// The file.
  public let path: String
  /// A description of what happened and what to do, or the message of the C library.
  public let message: String
  /// The `errno` of the system call that failed, if there was one.
  public let systemError: Int32?

  /// Creates an error.
  public init(
    _ code: Code, operation: String, path: String, message: String, systemError: Int32? = nil
  ) {
    self.code = code
    self.operation = operation
    self.path = path
    self.message = message
    self.systemError = systemError
  }

  /// The kinds of error; more may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String
  }
}

extension TokyoCabinetError.Code {
  /// The process was forked after the database was opened, which belongs to the parent.
  public static let forked = Self(description: "forked")
  /// The database has been closed.
  public static let closed = Self(description: "closed")
  /// The file is open elsewhere: in another process (`TCELOCK`) or in this one (`TCETHREAD`).
  public static let inUse = Self(description: "inUse")
  /// The database is open for reading only.
  public static let readOnly = Self(description: "readOnly")
  /// The library refused the call (`TCEINVALID`).
  public static let invalid = Self(description: "invalid")
  /// There is no such file or directory (`TCENOFILE`).
  public static let noFile = Self(description: "noFile")
  /// The operating system denies access (`TCENOPERM`).
  public static let noPermission = Self(description: "noPermission")
  /// The file is not a hash database (`TCEMETA`).
  public static let notADatabase = Self(description: "notADatabase")
  /// The file was written by a library of the other byte order (`TCEMETA`).
  public static let otherByteOrder = Self(description: "otherByteOrder")
  /// The header or a record is not valid (`TCEMETA`, `TCERHEAD`).
  public static let damaged = Self(description: "damaged")
  /// The disk is full, and nothing has been written.
  public static let noSpace = Self(description: "noSpace")
  /// The write could exceed the range of the file's offsets; nothing has been written.
  public static let fileTooLarge = Self(description: "fileTooLarge")
  /// The record is larger than 512 MiB.
  public static let recordTooLarge = Self(description: "recordTooLarge")
  /// The call is not allowed while this thread has a transaction open.
  public static let inTransaction = Self(description: "inTransaction")
  /// The body of `forEach` called back into the database.
  public static let inForEach = Self(description: "inForEach")
  /// The database was written to between two steps of a cursor.
  public static let disturbed = Self(description: "disturbed")

  /// The file could not be opened (`TCEOPEN`).
  public static let openFailed = Self(description: "openFailed")
  /// The file could not be closed (`TCECLOSE`).
  public static let closeFailed = Self(description: "closeFailed")
  /// The file could not be resized (`TCETRUNC`).
  public static let truncateFailed = Self(description: "truncateFailed")
  /// The file could not be synced (`TCESYNC`).
  public static let syncFailed = Self(description: "syncFailed")
  /// The status of the file could not be read, or it is not a regular file (`TCESTAT`).
  public static let statFailed = Self(description: "statFailed")
  /// A position in the file could not be reached (`TCESEEK`).
  public static let seekFailed = Self(description: "seekFailed")
  /// The file could not be read (`TCEREAD`).
  public static let readFailed = Self(description: "readFailed")
  /// The file could not be written (`TCEWRITE`).
  public static let writeFailed = Self(description: "writeFailed")
  /// The file could not be mapped, or the mapping not synced (`TCEMMAP`).
  public static let mapFailed = Self(description: "mapFailed")
  /// A file could not be removed (`TCEUNLINK`).
  public static let unlinkFailed = Self(description: "unlinkFailed")
  /// A file could not be renamed (`TCERENAME`).
  public static let renameFailed = Self(description: "renameFailed")
  /// A directory could not be created (`TCEMKDIR`).
  public static let makeDirectoryFailed = Self(description: "makeDirectoryFailed")
  /// A directory could not be removed (`TCERMDIR`).
  public static let removeDirectoryFailed = Self(description: "removeDirectoryFailed")
  /// There is a record with that key (`TCEKEEP`).
  public static let recordExists = Self(description: "recordExists")
  /// There is no record with that key (`TCENOREC`).
  public static let noRecord = Self(description: "noRecord")
  /// Another error (`TCEMISC`, or a code that this module does not know).
  public static let other = Self(description: "other")
}

extension TokyoCabinetError: CustomStringConvertible {
  /// The code, the call, the file, the message, and the system's error.
  public var description: String {
    var text = "\(code) [\(operation), \(path)]: \(message)"
    if let systemError { text += " (\(systemErrorText(systemError)), errno \(systemError))" }
    return text
  }
}
