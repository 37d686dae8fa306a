import StoredObjectsCore

/// Which names tables can have, and how their files are called.
enum Names {
  static let suffix = ".cdb"
  /// So that a store can be converted to any other backend.
  static let maximumByteCount = 230

  /// The name of the file of a table, or of the named buffers.
  static func file(of table: String) -> String { table + suffix }

  /// The table that a file is for, or the named buffers; nil for other files.
  static func table(ofFile file: String) -> String? {
    guard file.hasSuffix(suffix), !file.hasPrefix(".") else { return nil }
    let name = String(file.dropLast(suffix.count))
    return name == StoreDirectory.buffers || reasonAgainst(name) == nil ? name : nil
  }

  /// Checks the name of a table.
  static func check(_ name: String) throws {
    if let reason = reasonAgainst(name) {
      throw StoreError(
        .invalidName, "A class can't be stored under the name \"\(name)\": \(reason).")
    }
  }

  private static func reasonAgainst(_ name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) {
      return "it is the name of a file and must not contain / or NUL"
    }
    if name.hasPrefix(".") { return "it must not begin with a dot" }
    if name.utf8.count > maximumByteCount { return "it is longer than \(maximumByteCount) bytes" }
    if name == StoreDirectory.buffers { return "that is the file of the named buffers" }
    return nil
  }

  /// Checks the name of a named buffer that is to be written.
  static func check(buffer name: String) throws {
    if name.isEmpty { throw StoreError(.invalidName, "The name of a buffer must not be empty.") }
  }
}
