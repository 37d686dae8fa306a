import StoredObjectsCore

/// Which names can be names of files.
enum Names {
  /// The file of the named buffers.
  static let buffers = "NamedBuffers"
  /// The file of the commit log.
  static let log = "Commit.log"
  /// The file that says what the directory must hold.
  static let manifest = "Commit.manifest"
  /// How the names of new files begin that are to take the place of others.
  static let newPrefix = ".new."
  /// The library makes files of a longer name beside a file: `.wal`, `.tmp.` and an inode number.
  static let maximumByteCount = 230

  /// Checks the name of a table.
  static func check(_ name: String) throws {
    if let reason = reasonAgainst(name) {
      throw StoreError(
        .invalidName, "a class can't be stored under the name \"\(name)\": \(reason)")
    }
  }

  private static func reasonAgainst(_ name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) {
      return "it is the name of a file and must not contain / or NUL"
    }
    if name.hasPrefix(".") { return "it must not begin with a dot" }
    if name.utf8.count > maximumByteCount { return "it is longer than \(maximumByteCount) bytes" }
    if name == log { return "that is the file of the commit log" }
    if name == manifest { return "that is the file which lists the others" }
    if name == buffers { return "that is the file of the named buffers" }
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
