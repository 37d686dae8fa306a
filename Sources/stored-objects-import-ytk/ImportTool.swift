import ArgumentParser
import SystemSQLite
import YTKImport
import YTKImportOptions

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

  @OptionGroup var options: ImportOptions

  func run() throws { try options.run(reading: .sqlite) }
}
