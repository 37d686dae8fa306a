import Files

/// An error of a hash file, and its place.
///
/// Match the ``code``, and print the description:
///
///     do {
///       print(try HashFile("Song").count)
///     } catch {
///       guard error.code == .truncated else { throw error }
///       print("Copy the file again: \(error)")
///     }
public struct HashFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// The file.
  public let path: String
  /// The offset in the file, if the error has a place.
  public let offset: Int?
  /// A description of what was found and what was expected.
  public let message: String
  /// The `errno` of the system call that failed, if there was one.
  public let systemError: Int32?

  init(
    _ code: Code, _ message: String, path: String, offset: Int? = nil, systemError: Int32? = nil
  ) {
    self.code = code
    self.path = path
    self.offset = offset
    self.message = message
    self.systemError = systemError
  }

  init(_ error: SystemError) {
    let code: Code =
      switch error.kind {
      case .full: .noSpace
      case .denied: .noPermission
      case .missing, .notADirectory: .noFile
      case .inUse: .inUse
      case .other: .ioError
      }
    self.init(code, "\(error)", path: error.path, systemError: error.number)
  }

  /// The code, the message, the file and the offset in one line.
  public var description: String {
    let location = offset.map { ", offset \($0)" } ?? ""
    return "\(code): \(message) (\(path)\(location))"
  }

  /// The kinds of error; more may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String
  }
}

extension HashFileError.Code {
  /// A record is not the one that the plan of the file has in its place.
  public static let notPlanned = Self(description: "notPlanned")
  /// There is no such file.
  public static let noFile = Self(description: "noFile")
  /// The operating system denies access.
  public static let noPermission = Self(description: "noPermission")
  /// Another process has the file open for writing.
  public static let inUse = Self(description: "inUse")
  /// Another failure of the operating system.
  public static let ioError = Self(description: "ioError")
  /// The disk, or the quota of the process, is full.
  public static let noSpace = Self(description: "noSpace")
  /// The header is not that of a hash file.
  public static let notAHashFile = Self(description: "notAHashFile")
  /// The file is shorter than its header says.
  public static let truncated = Self(description: "truncated")
  /// Part of the file is not valid.
  public static let damaged = Self(description: "damaged")
  /// The values are compressed by a method that this module can't read.
  public static let unsupportedCompression = Self(description: "unsupportedCompression")
  /// A record or a file is larger than the format allows.
  public static let tooLarge = Self(description: "tooLarge")
  /// Two records to be written have the same key.
  public static let duplicateKey = Self(description: "duplicateKey")
  /// A layout is out of range.
  public static let invalidLayout = Self(description: "invalidLayout")
}

/// Runs system calls, and converts their errors to errors of a hash file.
func hashFileErrors<Result>(
  _ body: () throws(SystemError) -> Result
) throws(HashFileError) -> Result {
  do {
    return try body()
  } catch {
    throw HashFileError(error)
  }
}
