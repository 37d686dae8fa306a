import ArgumentParser
import Foundation
import StoredObjectsCore

struct StreamCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stream",
    abstract: "Write a store and its history to standard output, for apply on another machine.",
    discussion: """
      The store must keep a history: see history --begin. The stream begins with a copy of the \
      store. With --after, it has only the commits after that number. With --follow, it continues \
      with new commits until SIGTERM or Control-C.

        ssh host stored-objects stream Music --follow | stored-objects apply Copy
        ssh host stored-objects stream Music --after "$(stored-objects apply Copy --position)" | \
      stored-objects apply Copy
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "The number of the last commit in the copy; 0 writes the whole store.")
  var after: UInt64 = 0
  @Flag(help: "Continue with new commits.") var follow = false
  @Flag(help: "Allow an encrypted store, whose records are not encrypted in the stream.")
  var unencrypted = false

  func run() throws {
    if try store.key.key() != nil, !unencrypted {
      throw Failure(
        description: """
          The store is encrypted, and its records in the stream would not be. Add --unencrypted if \
          nobody else can read the stream.
          """)
    }
    let stop = StopSignal()
    let source = try PolledStore(store)
    var writer = try source.read { backend in
      var writer =
        if after == 0 {
          try HistoryStreamWriter.copying(backend, to: Self.write)
        } else { HistoryStreamWriter(behind: try backend.historyPosition(after: after)) }
      try writer.write(backend, to: Self.write)
      return writer
    }
    while follow, source.waitForNews(stop, atMost: .seconds(10)) {
      try source.read { backend in
        try writer.write(backend, to: Self.write)
        try Self.write(writer.heartbeat(of: backend))
      }
    }
    try Self.write(writer.end())
  }

  private static func write(_ bytes: [UInt8]) throws(StoreError) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(bytes))
    } catch {
      throw StoreError(
        .ioError, "Standard output can't be written: its reader has ended.", underlying: error)
    }
  }
}
