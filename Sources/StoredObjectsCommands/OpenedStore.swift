import ArgumentParser
import Foundation
import StoreAddresses
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption

/// A failed operation and its remedy, in words for the user of the terminal.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// The store argument of every command.
struct StoreArgument: ParsableArguments {
  @Argument(
    help: "The directory of the store; some commands take postgresql://HOST/DATABASE#STORE.",
    completion: .directory)
  var directory: String
  @OptionGroup(title: "Encrypted stores") var key: KeyOptions

  /// Opens a store in a directory or on a server for reading; nothing is created.
  func openAnyForReading() throws -> any StoreBackend { try openAnyForReading(key.key()) }

  /// Opens the same with a key that is already known.
  func openAnyForReading(_ key: EncryptionKey?) throws -> any StoreBackend {
    guard let address = try ServerAddress(directory) else { return try openForReading(key) }
    return try ServerStores.open(address, key, isReadOnly: true)
  }

  /// Opens an existing store in a directory, or any store on a server, for writing.
  func openAnyForWriting() throws -> any StoreBackend {
    guard let address = try ServerAddress(directory) else { return try openForWriting() }
    return try ServerStores.open(address, key.key(), isReadOnly: false)
  }

  /// Opens the store for reading; nothing is created.
  func openForReading() throws -> any DirectoryBackend { try openForReading(key.key()) }

  /// Opens the store for reading with a key that is already known.
  func openForReading(_ key: EncryptionKey?) throws -> any DirectoryBackend {
    try format().open(directory, access: .readOnly, key: key)
  }

  /// Opens an existing store for writing; waits for a process that has it open.
  func openForWriting() throws -> any DirectoryBackend { try openForWriting(key.key()) }

  /// Opens the store for writing with a key that is already known.
  func openForWriting(_ key: EncryptionKey?) throws -> any DirectoryBackend {
    try format().open(
      directory, createIfMissing: false, lockTimeout: Self.lockTimeout, key: key)
  }

  /// Opens an existing store for writing, together with programs that share it.
  func openForSharedWriting() throws -> any DirectoryBackend {
    try format().open(
      directory, createIfMissing: false, sharing: .processes, lockTimeout: Self.lockTimeout,
      key: key.key())
  }

  /// The time that commands wait for a store that is in use.
  static let lockTimeout = Duration.seconds(5)

  /// Returns the names in the directory; throws if it can't be a store, not even a damaged one.
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

  /// Returns the backend of the directory's store, which may be damaged.
  func backendOfWreck() throws -> any DirectoryBackend.Type { try formatOfWreck().backend }

  private func formatOfWreck() throws -> StoreFormat {
    StoreFormat(ofDirectoryWith: try checkIsStoreDirectory())
  }

  /// Returns the format of the store; refuses any other directory before anything is created there.
  func format() throws -> StoreFormat {
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

/// The store argument of a command that only reads, with an optional earlier commit.
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

/// The output flag of every command.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Write JSON instead of text.")
  var json = false

  /// Writes a report to the standard output, as JSON or as lines.
  func write<Report: Encodable>(_ report: Report, lines: () -> [String]) throws {
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try StandardOutput.write([String(decoding: try encoder.encode(report), as: UTF8.self)])
    } else {
      try StandardOutput.write(lines())
    }
  }
}

extension StoreFormat: ExpressibleByArgument {}
