import CSQLite
import Foundation

/// A SQLite file, opened for reading only.
@safe final class SQLiteFile {
  private let handle: OpaquePointer

  /// An error message of SQLite.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Opens a file.
  ///
  /// If a file has a write-ahead log, SQLite would create files next to it and, with read access
  /// only, leave them there. So such a file is opened as immutable, if no program has it open and
  /// the log has no changes left.
  init(reading path: String) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    let code = unsafe sqlite3_open_v2(
      Self.address(path, isUnchanging: Self.isAtRest(path)), &handle, flags, nil)
    guard code == SQLITE_OK, let opened = unsafe handle else {
      let failure = Failure(description: "\(path): \(unsafe Self.message(handle))")
      unsafe sqlite3_close(handle)
      throw failure
    }
    unsafe self.handle = opened
  }

  deinit { unsafe sqlite3_close(handle) }

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

  private static func message(_ handle: OpaquePointer?) -> String {
    unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? "it can't be opened"
  }

  /// Runs a query, and calls a closure with the columns of each row as texts; nil for NULL.
  ///
  /// Numbers are in the form in which SQLite writes them. Invalid UTF-8 in a text is repaired.
  func forEachRow(_ sql: String, _ body: ([String?]) throws -> Void) throws {
    var statement: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      throw Failure(description: unsafe Self.message(handle))
    }
    defer { unsafe sqlite3_finalize(statement) }
    while true {
      switch unsafe sqlite3_step(statement) {
      case SQLITE_ROW:
        let count = unsafe sqlite3_column_count(statement)
        try body((0..<count).map { unsafe Self.text(statement, $0) })
      case SQLITE_DONE: return
      default: throw Failure(description: unsafe Self.message(handle))
      }
    }
  }

  private static func text(_ statement: OpaquePointer?, _ column: Int32) -> String? {
    guard let start = unsafe sqlite3_column_text(statement, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(statement, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Returns a name in quotes for a query, whatever characters it contains.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
