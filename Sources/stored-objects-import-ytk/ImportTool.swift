import ArgumentParser
import Foundation
import KeyValueStore
import YTKImport

/// A separate program, so that nothing else needs SQLite; `stored-objects import-ytk` starts it.
@main
struct ImportTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stored-objects import-ytk",
    abstract: "Copy a SQLite file of YTKKeyValueStore into a key-value store.",
    discussion: """
      The file is only read. All its tables go into the store in one commit; a table that has \
      items there already is refused. That library kept texts and numbers in arrays of one \
      element; they are taken out of these arrays, unless you give --keep-arrays.
      """)

  @Argument(help: "The SQLite file.", completion: .file()) var file: String
  @Option(help: "The directory of the store; created if it does not exist.", completion: .directory)
  var store: String
  @Flag(help: "Leave arrays of one element as they are.") var keepArrays = false
  @Flag(help: "Write JSON instead of text.") var json = false

  func run() throws {
    let source = YTKImport(path: file, keepsArrays: keepArrays)
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
