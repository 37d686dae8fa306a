import Files
import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

extension StoreError {
  /// Creates a store error from an error of the hash database.
  init(_ error: TokyoCabinetError, className: String? = nil, at path: String? = nil) {
    // The library reaches a locked directory by a path that is of no use to people.
    let isHidden = error.path.hasPrefix("/proc/self/fd/")
    self.init(
      Self.code(error.code), error.message,
      at: Location(path: isHidden ? path : error.path, className: className), underlying: error)
  }

  /// Creates a store error from an error of a hash file.
  init(_ error: HashFileError, className: String? = nil) {
    let code: Code =
      switch error.code {
      case .inUse: .inUse
      case .noSpace, .tooLarge: .noSpace
      case .damaged, .truncated, .notAHashFile, .unsupportedCompression, .duplicateKey: .damaged
      default: .ioError
      }
    self.init(
      code, error.message,
      at: Location(path: error.path, className: className, offset: error.offset), underlying: error)
  }

  private static func code(_ code: TokyoCabinetError.Code) -> Code {
    switch code {
    case .closed: .closed
    case .inUse: .inUse
    case .readOnly: .readOnly
    case .noSpace, .fileTooLarge, .recordTooLarge: .noSpace
    case .damaged, .notADatabase, .otherByteOrder: .damaged
    default: .ioError
    }
  }
}

/// Runs calls on a class file, and converts their errors to store errors.
func storeErrors<Result>(
  at location: ClassFileLocation, _ body: () throws -> Result
) throws(StoreError) -> Result {
  try storeErrors(at: location.path, className: location.className, body)
}

/// Runs calls of the hash database or the system, and converts their errors to store errors.
func storeErrors<Result>(
  at path: String, className: String? = nil, _ body: () throws -> Result
) throws(StoreError) -> Result {
  do {
    return try body()
  } catch let error as TokyoCabinetError {
    throw StoreError(error, className: className, at: path)
  } catch let error as HashFileError {
    throw StoreError(error, className: className)
  } catch {
    throw .wrapping(error, .ioError, at: .init(path: path, className: className))
  }
}
