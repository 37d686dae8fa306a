/// An error of a system call.
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
