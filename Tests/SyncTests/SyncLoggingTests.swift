#if Macros
  import Locks
  import Logging
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsTestSupport
  import Testing

  @testable import StoredObjectsSync

  /// Keeps the errors that a program logs.
  private struct ErrorLog: LogHandler {
    let messages: SharedLock<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      guard event.level >= .error else { return }
      messages.withLock { $0.append("\(event.message) \(event.metadata?["device"] ?? "")") }
    }
  }

  @Suite("Errors of a sync server")
  struct SyncLoggingTests {
    private let messages = SharedLock<[String]>([])

    private func server(on backend: any StoreBackend) throws -> SyncServer {
      let logger = Logger(label: "test") { [messages] _ in ErrorLog(messages: messages) }
      return try SyncServer(
        StoreContainer(
          backend: backend, classes: syncedClasses,
          configuration: StoreConfiguration(logger: logger)))
    }

    /// Makes a history of some saves; returns a request for it.
    private func makeHistory(_ server: SyncServer) throws -> [UInt8] {
      let position = try server.backend.historyPosition()
      let store = try server.container.makeStore()
      for number in 0..<3 {
        let song = Song()
        song.title = "secret \(number)"
        store.insert(song)
        try store.saveChanges()
      }
      return SyncRequest.pull(after: position, byteLimit: 1 << 20).bytes
    }

    @Test("An error that a device can't get any more is logged, and any other is the answer")
    func logged() async throws {
      let base = try MemoryBackend()
      try base.beginHistory()
      let backend = FailingBackend(base)
      let server = try server(on: backend)
      let request = try makeHistory(server)
      var (failed, logged) = (0, 0)
      for count in 0..<100 {
        backend.failReads(after: count)
        let before = backend.readCount
        let answer = SharedLock<[UInt8]>([])
        await server.answer(request, from: SyncDevice(id: "Ann")) { bytes in
          answer.withLock { $0 += bytes }
        }
        let bytes = answer.withLock { $0 }
        let messages = messages.withLock { messages in
          defer { messages = [] }
          return messages
        }
        // A call more than those that succeed has met the failure.
        if backend.readCount - before <= count { break }
        if bytes.starts(with: SyncAnswer.history.bytes) {
          logged += 1
          try #require(messages.count == 1)
          #expect(messages[0].contains("This failure was asked for."))
          #expect(messages[0].contains("Ann"))
          #expect(!messages[0].contains("secret"))
        } else {
          failed += 1
          #expect(messages.isEmpty)
          guard case .failed("ioError", _) = try SyncAnswer(bytes) else {
            Issue.record("\(bytes)")
            continue
          }
        }
      }
      #expect(failed > 0 && logged > 0)
    }

    @Test("A device that takes no more bytes is no error")
    func lostConnection() async throws {
      let backend = try MemoryBackend()
      try backend.beginHistory()
      let server = try server(on: backend)
      let request = try makeHistory(server)
      await server.answer(request, from: SyncDevice(id: "Ann")) { _ throws(StoreError) in
        throw StoreError(.ioError, "The connection was lost.")
      }
      #expect(messages.withLock(\.self) == [])
    }
  }
#endif
