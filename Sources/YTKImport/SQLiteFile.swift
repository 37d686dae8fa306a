import Foundation

/// A SQLite file, opened for reading only.
@safe final class SQLiteFile {
  private let handle: OpaquePointer
  private let library: SQLiteLibrary

  /// An error of SQLite.
  struct Failure: Error, CustomStringConvertible {
    var code: Int32?
    let description: String
  }

  /// Opens a file that is not encrypted.
  ///
  /// If a file has a write-ahead log, SQLite would create files next to it and, with read access
  /// only, leave them there. So such a file is opened as immutable, if no program has it open and
  /// the log has no changes left.
  convenience init(reading path: String, _ library: SQLiteLibrary) throws {
    try self.init(path, isUnchanging: Self.isAtRest(path), library)
  }

  private init(_ path: String, isUnchanging: Bool, _ library: SQLiteLibrary) throws {
    self.library = library
    var handle: OpaquePointer?
    let address = Self.address(path, isUnchanging: isUnchanging)
    let code = unsafe library.open(address, &handle, SQLiteLibrary.readingURI, nil)
    guard code == SQLiteLibrary.ok, let opened = unsafe handle else {
      let message = unsafe Self.message(handle, library)
      _ = unsafe library.close(handle)
      throw Failure(code: code, description: "\(path): \(message)")
    }
    unsafe self.handle = opened
  }

  deinit { _ = unsafe library.close(handle) }

  // MARK: Encrypted files

  /// The settings of the earlier versions of SQLCipher: what version 4 calls them, and what version
  /// 3 needs instead.
  ///
  /// See https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_compatibility
  private static let settings: [[String]] = [
    [], ["PRAGMA cipher_compatibility = 3"], ["PRAGMA cipher_compatibility = 2"],
    ["PRAGMA cipher_compatibility = 1"], ["PRAGMA kdf_iter = 4000"],
    ["PRAGMA cipher_use_hmac = OFF", "PRAGMA kdf_iter = 4000"],
  ]

  /// Opens a file that SQLCipher has encrypted, whichever version it was.
  ///
  /// Complexity: one derivation of the key, up to 256,000 rounds, for each version that is tried.
  static func open(
    _ path: String, _ key: DatabaseKey, _ library: SQLiteLibrary
  ) throws -> SQLiteFile {
    var version: String?
    for settings in settings {
      // Nobody knows whether an encrypted file has a log, so SQLite has to look.
      let file = try SQLiteFile(path, isUnchanging: false, library)
      try file.setKey(key)
      try file.forEachRow("PRAGMA cipher_version") { version = $0.first ?? nil }
      do {
        for setting in settings { try file.forEachRow(setting) { _ in } }
        try file.forEachRow("SELECT count(*) FROM sqlite_master") { _ in }
        return file
      } catch let failure as Failure where failure.code == SQLiteLibrary.notADatabase {}
    }
    throw YTKImport.Failure(
      description: """
        The passphrase or key doesn't open "\(path)", or the file is in a format that this version \
        of SQLCipher (\(version ?? "unknown")) doesn't read.
        """)
  }

  private func setKey(_ key: DatabaseKey) throws {
    guard let setKey = unsafe library.setKey else {
      throw YTKImport.Failure(description: "SQLite can't open encrypted files: use SQLCipher.")
    }
    let code = unsafe key.bytes.withUnsafeBytes {
      unsafe setKey(handle, $0.baseAddress, Int32($0.count))
    }
    guard code == SQLiteLibrary.ok else { throw failure(code) }
  }

  // MARK: Opening

  /// Returns whether a file has an empty write-ahead log, and no program uses it.
  ///
  /// Byte 18 of the header has the write version: https://www.sqlite.org/fileformat2.html
  private static func isAtRest(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    guard let header = try? file.read(upToCount: 20), header.count == 20, header[18] == 2 else {
      return false
    }
    let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
    return (log?[.size] as? Int ?? 0) == 0
      && !FileManager.default.fileExists(atPath: path + "-shm")
  }

  /// Returns the path as a URI for SQLite.
  private static func address(_ path: String, isUnchanging: Bool) -> String {
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
    let absolute = URL(fileURLWithPath: path).path
    let escaped = absolute.addingPercentEncoding(withAllowedCharacters: allowed) ?? absolute
    return "file://\(escaped)?\(isUnchanging ? "immutable=1" : "mode=ro")"
  }

  private static func message(_ handle: OpaquePointer?, _ library: SQLiteLibrary) -> String {
    unsafe library.message(handle).map { unsafe String(cString: $0) } ?? "it can't be opened"
  }

  // MARK: Queries

  /// Runs a query, and calls a closure with the columns of each row as texts; nil for NULL.
  ///
  /// Numbers are in the form in which SQLite writes them. Invalid UTF-8 in a text is repaired.
  func forEachRow(_ sql: String, _ body: ([String?]) throws -> Void) throws {
    var statement: OpaquePointer?
    let code = unsafe library.prepare(handle, sql, -1, &statement, nil)
    guard code == SQLiteLibrary.ok else { throw failure(code) }
    defer { _ = unsafe library.finalize(statement) }
    while true {
      switch unsafe library.step(statement) {
      case SQLiteLibrary.row:
        let count = unsafe library.columnCount(statement)
        try body((0..<count).map { unsafe text(statement, $0) })
      case SQLiteLibrary.done: return
      case let code: throw failure(code)
      }
    }
  }

  private func failure(_ code: Int32) -> Failure {
    Failure(code: code, description: unsafe Self.message(handle, library))
  }

  private func text(_ statement: OpaquePointer?, _ column: Int32) -> String? {
    guard let start = unsafe library.columnText(statement, column) else { return nil }
    let count = Int(unsafe library.columnByteCount(statement, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Returns a name in quotes for a query, whatever characters it contains.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
