import ArgumentParser
import StoreAddresses

struct ImportYTKCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import-ytk",
    abstract: "Copy a SQLite file of YTKKeyValueStore into a key-value store.",
    discussion: """
      FILE is the SQLite file, which is only read; DIR is the directory of the store. A file that \
      SQLCipher has encrypted needs --encrypted, which asks for its passphrase, or \
      --passphrase-file, --passphrase-env or --key-file. The command runs the program \
      stored-objects-import-ytk, or stored-objects-import-sqlcipher for an encrypted file. They are \
      built separately because they need SQLite and SQLCipher.
      """)

  @Argument(
    parsing: .captureForPassthrough,
    help: "FILE --store DIR [--keep-arrays] [--json] [--encrypted] [--passphrase-file FILE]")
  var arguments: [String] = []

  /// Runs the program in the same directory that is built with SQLite or SQLCipher.
  func run() throws {
    let program: SiblingProgram = namesKey ? .importSQLCipher : .importYTK
    try program.run(arguments.filter { $0 != Self.encryptedFlag })
  }

  private static let encryptedFlag = "--encrypted"
  private static let keyOptions = ["--passphrase-file", "--passphrase-env", "--key-file"]

  private var namesKey: Bool {
    arguments.contains { argument in
      argument == Self.encryptedFlag
        || Self.keyOptions.contains { argument == $0 || argument.hasPrefix($0 + "=") }
    }
  }
}
