import CSQLite
import Foundation

/// A SQLite file that is only read.
@safe final class SQLiteFile {
  private let handle: OpaquePointer

  /// What SQLite says is wrong.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Opens a file.
  ///
  /// SQLite would make files beside one with a write-ahead log, and leave them there, for it may
  /// only read. So such a file is opened as one that nobody changes, if no program has it open and
  /// its last changes are all in it.
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

  /// Whether a file has a write-ahead log, which is empty, and no program uses it.
  ///
  /// Byte 18 of the header says how the file is written: https://www.sqlite.org/fileformat2.html
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

  /// The path as SQLite's kind of address.
  private static func address(_ path: String, isUnchanging: Bool) -> String {
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
    let absolute = URL(fileURLWithPath: path).path
    let escaped = absolute.addingPercentEncoding(withAllowedCharacters: allowed) ?? absolute
    return "file://\(escaped)?\(isUnchanging ? "immutable=1" : "mode=ro")"
  }

  private static func message(_ handle: OpaquePointer?) -> String {
    unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? "it can't be opened"
  }

  /// Runs a query, and gives each row as texts; NULL is nil, and numbers are as SQLite writes them.
  ///
  /// A row that makes no sense as text is repaired, as it was never anything else.
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

  /// A name as it stands in a query, whatever is in it.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
