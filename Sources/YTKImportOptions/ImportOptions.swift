public import ArgumentParser
import Foundation
import KeyValueStore
public import YTKImport

/// The options of every program that imports a file of YTKKeyValueStore.
public struct ImportOptions: ParsableArguments {
  @Argument(help: "The SQLite file.", completion: .file()) var file: String
  @Option(help: "The directory of the store; created if it does not exist.", completion: .directory)
  var store: String
  @Flag(help: "Leave arrays of one element as they are.") var keepArrays = false
  @Flag(help: "Write JSON instead of text.") var json = false

  /// Creates options that have not been parsed.
  public init() {}

  /// Copies the file into the store, and prints the result.
  ///
  /// Complexity: linear in the file.
  ///
  /// - Parameters:
  ///   - library: The library that reads the file.
  ///   - key: The key of an encrypted file.
  /// - Throws: An error of the import or of the store. Then nothing was created.
  public func run(reading library: SQLiteLibrary, key: DatabaseKey? = nil) throws {
    let source = YTKImport(path: file, reading: library, key: key, keepsArrays: keepArrays)
    // Nothing is created if there is nothing to import.
    try source.check()
    let isNew = !FileManager.default.fileExists(atPath: store)
    let target = try KeyValueStore(directory: store)
    let report: YTKImport.Report
    do {
      report = try source.run(into: target)
    } catch {
      try? target.close()
      if isNew { try? FileManager.default.removeItem(atPath: store) }
      throw error
    }
    try target.close()
    try show(report)
  }

  private func show(_ report: YTKImport.Report) throws {
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      print(String(decoding: try encoder.encode(report), as: UTF8.self))
      return
    }
    for (name, count) in report.tables.sorted(by: { $0.key < $1.key }) {
      print("\(name): \(count) \(count == 1 ? "item" : "items")")
    }
    if report.textCount > 0 {
      print("\(report.textCount) were not JSON, and are strings now:")
      list(report.texts, of: report.textCount)
    }
    if report.unreadableTimeCount > 0 {
      print("\(report.unreadableTimeCount) had no readable time, and got that of the import:")
      list(report.unreadableTimes, of: report.unreadableTimeCount)
    }
    if !report.skippedTables.isEmpty {
      print("Not tables of YTKKeyValueStore: \(report.skippedTables.joined(separator: ", "))")
    }
  }

  private func list(_ items: [YTKImport.Report.Item], of count: Int) {
    for item in items { print("  \(item.table): \(item.key.debugDescription)") }
    if count > items.count { print("  and \(count - items.count) more") }
  }
}
