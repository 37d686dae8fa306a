import StoreEngine

/// Which names tables can have, and how their files are called.
enum Names {
  static let suffix = ".cdb"

  /// The name of the file of a table, or of the named buffers.
  static func file(of table: String) -> String { table + suffix }

  /// The table that a file is for, or the named buffers; nil for other files.
  static func table(ofFile file: String) -> String? {
    guard file.hasSuffix(suffix), !file.hasPrefix(".") else { return nil }
    let name = String(file.dropLast(suffix.count))
    return name == StoreDirectory.buffers || StoreDirectory.reason(againstTable: name) == nil
      ? name : nil
  }

  /// Checks the name of a table.
  static func check(_ name: String) throws {
    if let reason = StoreDirectory.reason(againstTable: name) {
      throw StoreError(
        .invalidName, "A class can't be stored under the name \"\(name)\": \(reason).")
    }
  }

  /// Checks the name of a named buffer that is to be written.
  static func check(buffer name: String) throws {
    if name.isEmpty { throw StoreError(.invalidName, "The name of a buffer must not be empty.") }
  }
}
