package import ArgumentParser
package import StoreAddresses

/// The command-line tool.
package struct StoredObjectsTool: ParsableCommand {
  /// Creates the tool for the argument parser.
  package init() {}

  /// The name of the tool and its help.
  package static let configuration = CommandConfiguration(
    commandName: "stored-objects",
    abstract: "Inspect, check, copy, convert and salvage stores.",
    discussion: """
      A store is the directory that a program has opened with StoredObjects. You don't need the \
      classes of the program.

      A store can also be on a server, with a URL: postgresql://HOST/DATABASE#STORE. These commands \
      accept URLs: browse, shell, query, get, set, schema, check, top, dump, export, import, \
      convert, log, diff, history and restore.

      These commands only read the store, also while a program has it open: browse, query, get, \
      info, schema, check, top, dump, export, log, diff, backup, restore, convert, follow and \
      stream. set and browse --write share the store with programs that share it. All other \
      commands need the store for themselves.

      Examples:
        stored-objects browse Music
        stored-objects query Music Song --where 'title starts with "Prelude"' --sort -seconds
        stored-objects get Music Song/42 --json
        stored-objects set Music Song/42 title="Sunny Afternoon"
        stored-objects shell Music
        stored-objects info Music
        stored-objects schema Music --format mermaid
        stored-objects check Music --json
        stored-objects top Music
        stored-objects backup Music "Music 2026-11-21"
        stored-objects salvage Music "Music salvaged"
        stored-objects dump Music Song --values
        stored-objects export Music -o Music.jsonl
        stored-objects import Music Songs.jsonl --ids new
        stored-objects convert Music "Music in CDB" --backend cdb
        stored-objects convert Music "postgresql://db.example/music#Music"
        stored-objects migrate Music --rename Song=Track --retire Genre --rehearse
        stored-objects history Music --begin
        stored-objects log Music --class Song
        stored-objects diff Music 2026-11-23T18:00:00Z
        stored-objects export Music --as-of 17
        stored-objects restore Music "Music on Monday" --time 2026-11-23T18:00:00Z
        stored-objects follow Music "Music copy"
        ssh host stored-objects stream Music --follow | stored-objects apply "Music copy"
        stored-objects promote "Music copy"
        stored-objects backup Music /backup/Music --continuous
        stored-objects restore /backup/Music Music
        stored-objects import-ytk cache.sqlite --store Cache
        stored-objects encrypt Music --passphrase-file secret.txt
        stored-objects check Music --passphrase-file secret.txt

      The exit code is 0 after success. It is 1 after an error, after a check that has found \
      something, and after a salvage that has lost something. It is 64 for a command line that is \
      not valid.
      """,
    version: Release.version,
    subcommands: [
      BrowseCommand.self, ShellCommand.self, QueryCommand.self, GetCommand.self, SetCommand.self,
      InfoCommand.self,
      SchemaCommand.self, CheckCommand.self, TopCommand.self, BackupCommand.self,
      SalvageCommand.self, CompactCommand.self, CheckpointCommand.self, DumpCommand.self,
      ExportCommand.self, ImportCommand.self, ConvertCommand.self, MigrateCommand.self,
      LogCommand.self, DiffCommand.self, HistoryCommand.self, RestoreCommand.self,
      FollowCommand.self, StreamCommand.self, ApplyCommand.self, PromoteCommand.self,
      ImportYTKCommand.self, EncryptCommand.self, DecryptCommand.self,
      ChangePassphraseCommand.self,
    ])
}

extension StoredObjectsTool {
  /// Runs the tool with the arguments of the process.
  ///
  /// - Parameter opener: Opens stores on servers; nil in a program that can't. A command for such a
  ///   store is passed to the program that can.
  package static func run(openingServers opener: ServerStores.Opener? = nil) {
    do {
      try ServerStores.use(
        opener, arguments: Array(CommandLine.arguments.dropFirst()),
        or: .postgreSQL("stored-objects-postgresql"))
    } catch { exit(withError: error) }
    main()
  }
}
