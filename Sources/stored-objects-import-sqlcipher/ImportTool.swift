import ArgumentParser
import SystemSQLCipher
import YTKImport
import YTKImportOptions

/// A separate program, so that nothing else needs SQLCipher; `stored-objects import-ytk` starts it
/// for an encrypted file.
@main
struct ImportTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stored-objects import-ytk",
    abstract: "Copy an encrypted SQLite file of YTKKeyValueStore into a key-value store.",
    discussion: """
      The file was encrypted by SQLCipher, and is only read. You are asked for its passphrase at a \
      terminal. All its tables go into the store in one commit; a table that has items there \
      already is refused. That library kept texts and numbers in arrays of one element; they are \
      taken out of these arrays, unless you give --keep-arrays.
      """)

  @OptionGroup var options: ImportOptions
  @OptionGroup var keyOptions: DatabaseKeyOptions

  func run() throws { try options.run(reading: .sqlCipher, key: keyOptions.key()) }
}
