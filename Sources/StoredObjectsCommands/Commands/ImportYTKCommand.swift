import ArgumentParser

struct ImportYTKCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import-ytk",
    abstract: "Copy a SQLite file of YTKKeyValueStore into a key-value store.",
    discussion: """
      FILE is the SQLite file, which is only read; DIR is the directory of the store. The command \
      runs the program stored-objects-import-ytk, which is built separately because it needs \
      SQLite.
      """)

  @Argument(parsing: .captureForPassthrough, help: "FILE --store DIR [--keep-arrays] [--json]")
  var arguments: [String] = []

  /// Runs the program in the same directory that is built with SQLite.
  func run() throws { try SiblingProgram.importYTK.run(arguments) }
}
