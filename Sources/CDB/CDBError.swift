internal import Files

/// An error of a constant database: what happened, in which file, where, and what to do about it.
///
/// Match the ``code``, and print the description:
///
///     do {
///       try writer.add("Bicycle Race", forKey: "song/2")
///     } catch {
///       guard error.code == .tooLarge else { throw error }
///       try writer.finish()  // the earlier records are complete; continue in another file
///     }
public struct CDBError: Error, Sendable {
  /// The kind of error.
  public let code: Code
  /// The file, or "memory" for bytes in memory.
  public let path: String
  /// A description of what happened and what to do.
  public let message: String
  /// The offset in the file, if the error has a place.
  public let offset: Int?
  /// The key that was being read or written, if there is one.
  public let key: [UInt8]?
  /// The `errno` of the system call that failed, if there was one.
  public let systemError: Int32?

  /// Creates an error.
  public init(
    _ code: Code, path: String, message: String, offset: Int? = nil, key: [UInt8]? = nil,
    systemError: Int32? = nil
  ) {
    self.code = code
    self.path = path
    self.message = message
    self.offset = offset
    self.key = key
    self.systemError = systemError
  }

  /// The kinds of error; more may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String
  }
}

extension CDBError.Code {
  /// There is no such file or directory.
  public static let noFile = Self(description: "noFile")
  /// The operating system denies access.
  public static let noPermission = Self(description: "noPermission")
  /// A disk or a quota is full.
  public static let noSpace = Self(description: "noSpace")
  /// The operating system reports an error.
  public static let ioError = Self(description: "ioError")
  /// A number in the file is not valid: it was truncated or damaged, or is not a constant database.
  public static let damaged = Self(description: "damaged")
  /// The file is a constant database of the other ``CDBFormat``.
  public static let otherFormat = Self(description: "otherFormat")
  /// The record would make the file larger than its numbers can express.
  public static let tooLarge = Self(description: "tooLarge")
  /// The writer has finished or was canceled, or the store is closed.
  public static let closed = Self(description: "closed")
  /// The bytes of a key or a value are not what the codec writes.
  public static let notDecodable = Self(description: "notDecodable")
  /// A codec can't encode a key or a value.
  public static let notEncodable = Self(description: "notEncodable")
  /// The process was forked after the store was created, which belongs to the parent.
  public static let forked = Self(description: "forked")
  /// Another program has replaced the file since it was opened.
  public static let changedElsewhere = Self(description: "changedElsewhere")
}

extension CDBError: CustomStringConvertible {
  /// The code, the file, the offset and the message, but no content of the file: it may be private.
  public var description: String {
    var location = path
    if let offset { location += ", byte \(offset)" }
    var text = "\(code) [\(location)]: \(message)"
    if let systemError { text += " (\(systemErrorText(systemError)), errno \(systemError))" }
    return text
  }
}

extension CDBError {
  /// Creates an error from an error of the operating system.
  init(_ error: SystemError) {
    let (code, message): (Code, String) =
      switch error.kind {
      case .full: (.noSpace, "The disk or a quota is full; make room and try again.")
      case .denied: (.noPermission, "Access is denied; check the permissions.")
      case .missing: (.noFile, "There is no such file or directory.")
      case .notADirectory: (.noFile, "A part of the path is not a directory.")
      case .other where error.isOfNoRegularFile:
        (.ioError, "This is a directory, or something else that is not a file.")
      case .inUse, .other: (.ioError, "The operating system reports an error in \(error.call).")
      }
    self.init(code, path: error.path, message: message, systemError: error.number)
  }

  static func damaged(_ path: String, at offset: Int, _ message: String) -> CDBError {
    CDBError(.damaged, path: path, message: message, offset: offset)
  }
}
