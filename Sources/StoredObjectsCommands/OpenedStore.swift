import ArgumentParser
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption

/// What could not be done and what to do about it, in words for the person at the terminal.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// The store that every command is about.
struct StoreArgument: ParsableArguments {
  @Argument(
    help: "The directory of the store; some commands take postgresql://HOST/DATABASE#STORE.",
    completion: .directory)
  var directory: String
  @OptionGroup(title: "Encrypted stores") var key: KeyOptions

  /// Opens a store in a directory or on a server for reading; nothing is created.
  func openAnyForReading() throws -> any StoreBackend { try openAnyForReading(key.key()) }

  /// Opens it with a key that is known already.
  func openAnyForReading(_ key: EncryptionKey?) throws -> any StoreBackend {
    guard let address = try ServerAddress(directory) else { return try openForReading(key) }
    return try ServerStores.open(address, key, isReadOnly: true)
  }

  /// Opens a store that exists in a directory, or any on a server, for writing.
  func openAnyForWriting() throws -> any StoreBackend {
    guard let address = try ServerAddress(directory) else { return try openForWriting() }
    return try ServerStores.open(address, key.key(), isReadOnly: false)
  }

  /// Opens the store for reading; nothing is created.
  func openForReading() throws -> any DirectoryBackend { try openForReading(key.key()) }

  /// Opens the store for reading with a key that is known already.
  func openForReading(_ key: EncryptionKey?) throws -> any DirectoryBackend {
    try format().open(directory, access: .readOnly, key: key)
  }

  /// Opens a store that exists for writing; waits for a process that has it.
  func openForWriting() throws -> any DirectoryBackend { try openForWriting(key.key()) }

  /// Opens the store for writing with a key that is known already.
  func openForWriting(_ key: EncryptionKey?) throws -> any DirectoryBackend {
    try format().open(
      directory, createIfMissing: false, lockTimeout: Self.lockTimeout, key: key)
  }

  /// How long commands wait for a store that is in use.
  static let lockTimeout = Duration.seconds(5)

  /// Refuses what can't even be a wreck of a store; the names in the directory.
  @discardableResult
  func checkIsStoreDirectory() throws -> [String] {
    guard try ServerAddress(directory) == nil else {
      throw Failure(
        description: "This command is for stores in directories. On a server, use its own tools.")
    }
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved) else {
      throw Failure(description: "There is no directory \"\(directory)\". Check the path.")
    }
    guard attributes[.type] as? FileAttributeType == .typeDirectory else {
      throw Failure(
        description: """
          "\(directory)" is a file. A store is a directory: name the directory that has the file.
          """)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { !$0.hasPrefix(".") }
    guard !names.isEmpty else {
      throw Failure(description: "\"\(directory)\" is not a store: it is empty. Check the path.")
    }
    return names
  }

  private var resolved: String { URL(fileURLWithPath: directory).resolvingSymlinksInPath().path }

  /// The backend of what lies in the directory, a store or the wreck of one.
  func backendOfWreck() throws -> any DirectoryBackend.Type { try formatOfWreck().backend }

  private func formatOfWreck() throws -> StoreFormat {
    StoreFormat(ofDirectoryWith: try checkIsStoreDirectory())
  }

  /// The format of the store; refuses a directory of other things, before anything is made there.
  private func format() throws -> StoreFormat {
    let format = try formatOfWreck()
    if format == .cdb { return format }
    for name in try checkIsStoreDirectory() {
      if name == "Commit.log" { return format }
      let file = FileHandle(forReadingAtPath: directory + "/" + name)
      let start = try? file?.read(upToCount: 14)
      if start == Data("ToKyO CaBiNeT\n".utf8) { return format }
    }
    throw Failure(
      description: """
        "\(directory)" is not a store: it has neither a log nor a class file. Check the path; if \
        it was a store, salvage looks for what is left.
        """)
  }
}

/// The store of a command that only reads, as it is or as it was.
struct ReadStoreArgument: ParsableArguments {
  @OptionGroup var store: StoreArgument
  @Option(
    name: .customLong("as-of"),
    help: """
      Show the store as it was after a commit: its number, or a moment such as \
      2026-11-25T18:30:00Z. The store has to keep a history.
      """)
  var commit: CommitArgument?

  /// Opens the store for reading; nothing is created.
  func open() throws -> any StoreBackend {
    let backend = try store.openAnyForReading()
    guard let commit else { return backend }
    return try backend.snapshot(asOf: commit.number(in: backend))
  }
}

/// The flag that every command has.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Write JSON instead of text.")
  var json = false

  /// Writes a report to the standard output, as JSON or as lines.
  func write<Report: Encodable>(_ report: Report, lines: () -> [String]) throws {
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(report), as: UTF8.self))
    } else {
      for line in lines() { print(line) }
    }
  }
}

extension StoreFormat: ExpressibleByArgument {}
