import ArgumentParser
import Foundation
import StoredObjectsCore

struct StreamCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stream",
    abstract: "Write a store and its history to the standard output, for apply on another machine.",
    discussion: """
      The store keeps a history: history --begin. Without --after the stream begins with a copy of the \
      store; with it, it has the commits behind that number only. With --follow it goes on with each \
      new commit until SIGTERM or Control-C.

        ssh host stored-objects stream Music --follow | stored-objects apply Copy
        ssh host stored-objects stream Music --after "$(stored-objects apply Copy --position)" | \
      stored-objects apply Copy
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "The last commit that the copy has; 0 writes the whole store.")
  var after: UInt64 = 0
  @Flag(help: "Go on with new commits.") var follow = false
  @Flag(help: "Write the records of an encrypted store, which the stream has unencrypted.")
  var unencrypted = false

  func run() throws {
    if try store.key.key() != nil, !unencrypted {
      throw Failure(
        description: """
          The stream would have the records of an encrypted store unencrypted. Add --unencrypted if \
          nobody else can read it.
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
        .ioError, "The standard output takes no more: its reader has ended.", underlying: error)
    }
  }
}
