import StoreEngine

/// Which names can be names of files.
enum Names {
  /// Checks the name of a table.
  static func check(_ name: String) throws {
    if let reason = reasonAgainst(name) {
      throw StoreError(
        .invalidName, "a class can't be stored under the name \"\(name)\": \(reason)")
    }
  }

  private static func reasonAgainst(_ name: String) -> String? {
    if let reason = StoreDirectory.reason(againstTable: name) { return reason }
    if name == StoreDirectory.log { return "that is the file of the commit log" }
    if name == StoreDirectory.manifest { return "that is the file which lists the others" }
    if isWorkFile(name) { return "the library's own work files are named so" }
    return nil
  }

  /// Checks the name of a named buffer that is to be written.
  static func check(buffer name: String) throws {
    if name.isEmpty { throw StoreError(.invalidName, "the name of a buffer must not be empty") }
  }

  /// Whether a file in the directory can be that of a table.
  static func isTable(_ name: String) -> Bool { reasonAgainst(name) == nil }

  /// Whether the C library names a log or a half-made file so.
  private static func isWorkFile(_ name: String) -> Bool {
    if name.hasSuffix(".wal") { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count > 2 && parts[parts.count - 2] == "tmp"
      && parts[parts.count - 1].allSatisfy { ("0"..."9").contains($0) }
  }
}
