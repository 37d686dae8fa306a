import Files
import StoreEngine

extension DocumentError {
  /// Converts an error of a lower layer or of the application to a document error.
  static func wrapping(_ error: any Error, at path: @autoclosure () -> String) -> DocumentError {
    switch error {
    case let error as DocumentError: error
    case let error as StoreError: DocumentError(error, at: path())
    case let error as SystemError: DocumentError(error, at: path())
    case is CancellationError: cancelled(path())
    default: DocumentError(.ioError, "\(error)", at: path(), underlying: error)
    }
  }

  /// Converts an error of a document's store.
  init(_ error: StoreError, at path: String) {
    let code: Code =
      switch error.code {
      case .inUse: .inUse
      case .readOnly: .readOnly
      case .noSpace: .noSpace
      case .closed: .closed
      case .ioError: .ioError
      default: .store
      }
    self.init(code, error.message, at: error.location.path ?? path, underlying: error)
  }

  init(_ error: SystemError, at path: String) {
    let (code, message): (Code, String) =
      switch error.kind {
      case .missing, .notADirectory: (.missing, "There is no such document or folder.")
      case .full: (.noSpace, "The disk, a quota or the limit on a file's size leaves no room.")
      case .denied: (.ioError, "The operating system denies access; check the permissions.")
      case .inUse: (.inUse, "Another process uses it: close it there first.")
      case .other where error.isExisting: (.exists, "There is something at this path already.")
      case .other: (.ioError, "The operating system reports an error.")
      }
    self.init(code, message, at: path, underlying: error)
  }

  static func cancelled(_ path: String) -> DocumentError {
    DocumentError(.cancelled, "The operation was cancelled. Nothing has changed.", at: path)
  }

  static func closed(_ path: String) -> DocumentError {
    DocumentError(.closed, "The document has been closed: open it again.", at: path)
  }

  static func exists(_ path: String) -> DocumentError {
    DocumentError(
      .exists, "There is something at this path already: choose another name, or replace it.",
      at: path)
  }
}

/// Runs a closure, and converts its errors to document errors.
func documentErrors<Result>(
  at path: @autoclosure () -> String, _ body: () throws -> Result
) throws(DocumentError) -> Result {
  do { return try body() } catch { throw .wrapping(error, at: path()) }
}
