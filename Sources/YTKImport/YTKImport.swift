import Foundation
public import KeyValueStoreCore
import StoreEngine

/// An import of a YTKKeyValueStore file into a key-value store.
///
/// Such a file has a SQLite table with the columns `id`, `json` and `createdTime` for each table.
/// The Objective-C library wrapped texts and numbers in arrays of one element. The import unwraps
/// them, unless ``keepsArrays`` is true. A value that is not JSON becomes a text, since the Swift
/// library stored texts in that form.
public struct YTKImport {
  /// The path of the SQLite file, which is only read.
  public let path: String
  /// The key of an encrypted file; nil for one that is not encrypted.
  public let key: DatabaseKey?
  /// Whether arrays with a single text or number stay arrays.
  public var keepsArrays: Bool
  private let library: SQLiteLibrary

  /// The result of an import.
  public struct Report: Sendable, Encodable {
    /// The number of items in each table.
    public var tables: [String: Int] = [:]
    /// The number of values that were not JSON, and are texts now.
    public var textCount = 0
    /// The first hundred of these items, by table and key.
    public var texts: [Item] = []
    /// The number of unreadable times; their items have the time of the import.
    public var unreadableTimeCount = 0
    /// The first hundred of these items, by table and key.
    public var unreadableTimes: [Item] = []
    /// The tables in the file that do not belong to YTKKeyValueStore.
    public var skippedTables: [String] = []

    /// An item of a table.
    public struct Item: Sendable, Hashable, Encodable {
      /// The name of the table.
      public let table: String
      /// The key.
      public let key: String

      /// Creates the name of an item.
      public init(table: String, key: String) { (self.table, self.key) = (table, key) }
    }

    /// The maximum number of items to name, which a person can still review.
    private static let namedCount = 100

    fileprivate mutating func addText(_ item: Item) {
      textCount += 1
      if texts.count < Self.namedCount { texts.append(item) }
    }

    fileprivate mutating func addUnreadableTime(_ item: Item) {
      unreadableTimeCount += 1
      if unreadableTimes.count < Self.namedCount { unreadableTimes.append(item) }
    }
  }

  /// The reason why an import failed, and what to do.
  public struct Failure: Error, CustomStringConvertible {
    /// The message for the person at the terminal.
    public let description: String
  }

  /// Creates an import of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the SQLite file.
  ///   - library: The library that reads the file; SQLCipher for an encrypted one.
  ///   - key: The key of an encrypted file.
  ///   - keepsArrays: Whether arrays with a single text or number stay arrays.
  public init(
    path: String, reading library: SQLiteLibrary, key: DatabaseKey? = nil,
    keepsArrays: Bool = false
  ) {
    (self.path, self.library, self.key, self.keepsArrays) = (path, library, key, keepsArrays)
  }

  /// Copies all tables, with the items of all of them in one commit.
  ///
  /// Complexity: O(log n) for each item, and linear in the size of its value. There is one commit
  /// for each new table, and one for all items.
  ///
  /// - Throws: ``Failure`` if the file has no such table, or if a table of the same name in the
  ///   store has items; and the errors of SQLite and of the store. The store is unchanged then.
  public func run(into store: KeyValueStore) throws -> Report {
    let (file, names, found) = try open()
    var report = found
    let known = Set(store.tableNames())
    for name in names where known.contains(name) {
      guard try store.table(name).count() == 0 else {
        throw Failure(description: "The store has items in a table \"\(name)\" already.")
      }
    }
    do {
      try copy(names, file, store, &report)
    } catch {
      for name in names where !known.contains(name) { try? store.dropTable(name) }
      throw error
    }
    return report
  }

  /// Checks that there is something to import, before a store is created for it.
  ///
  /// Complexity: linear in the number of tables in the file and of their columns; no item is read.
  ///
  /// - Throws: ``Failure`` if the file has no such table, and the errors of SQLite.
  public func check() throws { _ = try open() }

  private func open() throws -> (SQLiteFile, names: [String], Report) {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Failure(description: "There is no file \"\(path)\".")
    }
    let file =
      try key.map { try SQLiteFile.open(path, $0, library) } ?? SQLiteFile(reading: path, library)
    var report = Report()
    let names = try tableNames(file, &report)
    guard !names.isEmpty else {
      throw Failure(
        description: "\"\(path)\" has no table with the columns id, json and createdTime.")
    }
    return (file, names, report)
  }

  private func copy(
    _ names: [String], _ file: SQLiteFile, _ store: KeyValueStore, _ report: inout Report
  ) throws {
    let tables = try names.map { try store.createTable($0) }
    try store.write { batch in
      for table in tables {
        var count = 0
        try file.forEachRow(
          "SELECT id, json, createdTime FROM \(SQLiteFile.quoted(table.name))"
        ) { row in
          guard let key = row[0] else { return }
          let item = item(.init(table: table.name, key: key), row[1], row[2], &report)
          try batch.put(item, in: table)
          count += 1
        }
        report.tables[table.name] = count
      }
    }
  }

  private func tableNames(_ file: SQLiteFile, _ report: inout Report) throws -> [String] {
    var all: [String] = []
    try file.forEachRow(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    ) { row in if let name = row[0] { all.append(name) } }
    var names: [String] = []
    for name in all {
      var columns: Set<String> = []
      try file.forEachRow("PRAGMA table_info(\(SQLiteFile.quoted(name)))") { row in
        if let column = row[1] { columns.insert(column) }
      }
      if columns.isSuperset(of: ["id", "json", "createdTime"]) {
        names.append(name)
      } else {
        report.skippedTables.append(name)
      }
    }
    return names
  }

  // MARK: Items

  private func item(
    _ item: Report.Item, _ json: String?, _ time: String?, _ report: inout Report
  ) -> KeyValueItem {
    let date = time.flatMap(date)
    if date == nil { report.addUnreadableTime(item) }
    let value = value(json, item, &report)
    let moment = date ?? Date()
    return KeyValueItem(key: item.key, value: value, createdAt: moment, updatedAt: moment)
  }

  private func value(
    _ json: String?, _ item: Report.Item, _ report: inout Report
  ) -> StoredValue {
    guard let json else { return .null }
    guard let value = try? JSONDecoder().decode(StoredValue.self, from: Data(json.utf8)) else {
      report.addText(item)
      return .string(json)
    }
    guard !keepsArrays, case .array(let elements) = value, elements.count == 1 else {
      return value
    }
    switch elements[0] {
    case .string, .int, .unsigned, .double, .bool: return elements[0]
    default: return value
    }
  }

  /// Parses seconds since 1970, as written by FMDB, or a date in words, as written by SQLite.swift.
  private func date(_ text: String) -> Date? {
    if let seconds = Double(text) {
      return seconds.isFinite ? Date(timeIntervalSince1970: seconds) : nil
    }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    for format in ["yyyy-MM-dd'T'HH:mm:ss.SSS", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm:ss"] {
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
