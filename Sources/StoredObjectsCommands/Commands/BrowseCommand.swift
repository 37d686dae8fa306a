import ArgumentParser
import Foundation
import RecordBrowsing
import StoreAddresses
import StoreEngine
import StoreFormats
import StoredObjectsBrowser
import StoredObjectsEncryption

struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Show a store in the browser: its objects, references, history and health.",
    discussion: """
      The command prints a URL for browsers on this machine, and serves the page until you press \
      Control-C. The URL has a random token: nobody without it gets an answer. The program can have \
      the store open, and the page follows its saves.

      With --write you can also edit: values, lists, new objects and deletions. Each edit is one \
      save, and can be undone. The program must then share the store, or not have it open.
      """)

  @OptionGroup var store: StoreArgument
  @Flag(help: "Edit the store.") var write = false
  @Option(help: "The port on 127.0.0.1; 0 chooses a free one.") var port: UInt16 = 0

  func run() throws {
    let session = try BrowserOpening(store, isWritable: write).session()
    defer { session.close() }
    let server = try BrowserServer(session, port: port)
    let stop = StopSignal()
    let serving = ServedPage(server) { url in
      FileHandle.standardOutput.write(Data("\(url.absoluteString)\n".utf8))
    }
    while !stop.isRequested, serving.failure == nil { stop.sleep(.milliseconds(200)) }
    serving.stop()
    if let failure = serving.failure { throw failure }
  }
}

extension StoreArgument {
  /// Returns the states of a store in a directory, which other programs save to.
  func polledSource(_ key: EncryptionKey?) throws -> PolledSource {
    let (format, directory) = (try format(), directory)
    let source = PolledSource(directory) { () throws(StoreError) in
      try format.open(directory, access: .readOnly, key: key)
    }
    // A store that can't be opened is an error now, and not later.
    _ = try source.state()
    return source
  }

  /// Returns the key; prompts at the terminal if the store is encrypted and no option has it.
  func keyIfNeeded() throws -> EncryptionKey? {
    if let given = try key.key() { return given }
    do {
      try format().open(directory, access: .readOnly).close()
      return nil
    } catch let error as StoreError where error.code == .encrypted {
      return try key.neededKey()
    }
  }

  /// Returns the states of a store in a directory or on a server.
  func stateSource() throws -> any StateSource {
    guard try ServerAddress(directory) == nil else { return LiveSource(try openAnyForReading()) }
    return try polledSource(key.key())
  }
}

/// Opens a store for the page.
struct BrowserOpening {
  private let store: StoreArgument
  private let isWritable: Bool

  init(_ store: StoreArgument, isWritable: Bool) {
    (self.store, self.isWritable) = (store, isWritable)
  }

  func session() throws -> BrowserSession {
    if try ServerAddress(store.directory) != nil { return try serverSession() }
    let key = try store.keyIfNeeded()
    let name = URL(fileURLWithPath: store.directory).lastPathComponent
    let (format, wreck) = (try store.format(), try store.backendOfWreck())
    let directory = store.directory
    let options = BrowserSession.Options(
      name: name, format: format.rawValue + (key == nil ? "" : ", encrypted")
    ) { try wreck.check(directory: directory, key: key, progress: { _ in }) }
    if isWritable {
      let backend = try format.open(
        directory, createIfMissing: false, sharing: .processes,
        lockTimeout: StoreArgument.lockTimeout, key: key)
      return BrowserSession(LiveSource(backend), editor: StoreEditor(backend), options: options)
    }
    return BrowserSession(try store.polledSource(key), editor: nil, options: options)
  }

  private func serverSession() throws -> BrowserSession {
    let backend =
      try isWritable ? store.openAnyForWriting() : store.openAnyForReading()
    let name = store.directory.split(separator: "#").last.map(String.init) ?? "Store"
    let options = BrowserSession.Options(name: name, format: "postgresql") {
      try BackendCheck(backend).run { _ in }
    }
    return BrowserSession(
      LiveSource(backend), editor: isWritable ? StoreEditor(backend) : nil, options: options)
  }

}

/// A server that runs until it is stopped.
private final class ServedPage: Sendable {
  private let server: BrowserServer
  private let outcome = Outcome()
  private let task: Task<Void, Never>

  init(_ server: BrowserServer, onStart: @escaping @Sendable (URL) -> Void) {
    self.server = server
    task = Task { [outcome] in
      do { try await server.run(onStart: onStart) } catch { outcome.set(error) }
    }
  }

  /// The reason why the server has ended; nil as long as it runs.
  var failure: (any Error)? { outcome.error }

  func stop() { task.cancel() }
}
