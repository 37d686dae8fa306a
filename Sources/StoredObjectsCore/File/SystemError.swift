/// What the operating system said to one call.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The C function, such as "fdatasync".
  package let call: String
  /// The file or directory.
  package let path: String
  /// The `errno`.
  package let number: Int32

  package init(call: String, path: String, number: Int32) {
    self.call = call
    self.path = path
    self.number = number
  }

  package var description: String {
    "\(call) \(path): \(systemErrorText(number)), errno \(number)"
  }
}

extension StoreError {
  /// A refusal of the operating system, as an error of the store.
  package init(_ error: SystemError) {
    let (code, message): (Code, String) =
      switch error.kind {
      case .full: (.full, "The disk, a quota or the limit on a file's size leaves no room.")
      case .denied: (.ioError, "The operating system denies access; check the permissions.")
      case .missing: (.ioError, "There is no such file or directory.")
      case .notADirectory: (.ioError, "A store is a directory, and this is none.")
      case .inUse:
        (
          .inUse,
          "In use by another process, or by another backend in this one; close that first."
        )
      case .other: (.ioError, "The operating system reports an error.")
      }
    self.init(code, message, at: .init(path: error.path), underlying: error)
  }
}
