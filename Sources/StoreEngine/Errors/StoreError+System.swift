package import Files

extension StoreError {
  /// Creates a store error from an error of the operating system.
  package init(_ error: SystemError) {
    let (code, message): (Code, String) =
      switch error.kind {
      case .full: (.noSpace, "The disk, a quota or the limit on a file's size leaves no room.")
      case .denied: (.ioError, "The operating system denies access; check the permissions.")
      case .missing: (.ioError, "There is no such file or directory.")
      case .notADirectory: (.ioError, "A store is a directory, and this is not one.")
      case .inUse:
        (
          .inUse,
          "In use by another process, or by another backend in this one; close that first."
        )
      case .other where error.isOfNoRegularFile:
        (.ioError, "This is a directory, or something else that is not a file: move it away.")
      case .other: (.ioError, "The operating system reports an error.")
      }
    self.init(code, message, at: .init(path: error.path), underlying: error)
  }

  /// The underlying error of the operating system, or nil.
  package var refusal: SystemError? { underlying as? SystemError }
}

/// Runs system calls, and converts their errors to store errors.
package func systemErrors<Result>(
  at path: @autoclosure () -> String, _ body: () throws -> Result
) throws(StoreError) -> Result {
  do { return try body() } catch { throw .wrapping(error, .ioError, at: .init(path: path())) }
}

/// Returns the size of a file; 0 if it does not exist.
package func sizeOfFile(at file: some FileAddress) throws(StoreError) -> Int {
  try systemErrors(at: file.location.path) { try FileStatus.find(file)?.size ?? 0 }
}
