#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsTestSupport
  import Testing

  @testable import StoredObjectsSync

  @Suite("Hostile devices")
  struct HostileDeviceTests {
    /// A network with a device that has saved a song, and a commit that it has not sent.
    private func network() async throws -> (SyncNetwork, Device) {
      let network = try SyncNetwork()
      // A commit of which only the token was changed is made, and clashes with its original.
      var configuration = SyncConfiguration()
      configuration.decide = { _ in .theirs }
      let ann = try network.device("Ann", configuration: configuration)
      try await ann.sync()
      let store = try ann.store()
      for number in 0..<3 {
        let song = Song()
        (song.title, song.code) = ("\(number)", "\(number)")
        store.insert(song)
      }
      try store.saveChanges()
      try await ann.sync()
      let late = Song()
      late.title = "late"
      store.insert(late)
      try store.saveChanges()
      return (network, ann)
    }

    private func send(
      _ bytes: [UInt8], to network: SyncNetwork, as device: String = "Ann"
    ) async throws -> SyncAnswer? {
      let parts = SharedLock<[UInt8]>([])
      await network.server.answer(bytes, from: SyncDevice(id: device)) { bytes in
        parts.withLock { $0 += bytes }
      }
      let answer = parts.withLock { $0 }
      return answer.starts(with: SyncAnswer.history.bytes) ? .history : try SyncAnswer(answer)
    }

    private func code(_ answer: SyncAnswer?) -> String? {
      if case .failed(let code, _) = answer { code } else { nil }
    }

    @Test("A request with any changed byte, or cut anywhere, is refused and changes nothing")
    func changedBytes() async throws {
      let (network, ann) = try await network()
      let before = try contents(network.backend)
      let pending = try await ann.client.pendingCommits()
      let position = try #require(try ann.backend.syncState()).position
      let requests: [SyncRequest] = [
        .join([SyncClass(name: "Song", metadata: [1, 2], layouts: [], rowCount: 3)]),
        .pull(after: position, byteLimit: 1000),
        .push(basedOn: position, commits: pending.commits.map { HistoryFormat.encoded($0.entry) }),
      ]
      for bytes in requests.map(\.bytes) {
        for index in bytes.indices {
          var changed = bytes
          changed[index] ^= 1 << UInt8(index % 8)
          #expect(code(try await send(changed, to: network)) == "invalidArgument")
          if index % 5 > 0 { continue }
          #expect(
            code(try await send(Array(bytes[..<index]), to: network)) == "invalidArgument")
        }
      }
      #expect(try contents(network.backend) == before)
    }

    @Test("A commit whose content makes no sense, behind a right checksum, never damages the store")
    func changedContents() async throws {
      var generator = Seeds.generator(for: "commits of hostile devices")
      let (network, ann) = try await network()
      let pending = try await ann.client.pendingCommits()
      let entry = HistoryFormat.encoded(try #require(pending.commits.first).entry)
      for _ in 0..<400 {
        var changed = entry
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let index = Int.random(in: 0..<changed.count, using: &generator)
          changed[index] = .random(in: 0...255, using: &generator)
        }
        let position = try network.backend.historyPosition()
        _ = try await send(
          SyncRequest.push(basedOn: position, commits: [changed]).bytes, to: network)
        // Every object can still be read.
        _ = try contents(network.backend)
      }
      try await ann.sync()
      let bob = try network.device("Bob")
      try await bob.sync()
      #expect(try contents(bob.backend) == contents(network.backend))
    }

    @Test("A recorded request that is sent again changes nothing")
    func replays() async throws {
      let (network, ann) = try await network()
      let pending = try await ann.client.pendingCommits()
      let position = try #require(try ann.backend.syncState()).position
      let push = SyncRequest.push(
        basedOn: position, commits: pending.commits.map { HistoryFormat.encoded($0.entry) }
      ).bytes
      guard case .accepted = try await send(push, to: network) else {
        Issue.record("the first one is accepted")
        return
      }
      let number = network.backend.lastCommitNumber
      #expect(try await send(push, to: network) == .behind)
      #expect(network.backend.lastCommitNumber == number)
    }

    @Test("Commits for another store, another device's rows, and internal data are refused")
    func strangers() async throws {
      let (network, ann) = try await network()
      let before = try contents(network.backend)
      let position = try network.backend.historyPosition()
      let pending = try await ann.client.pendingCommits()
      let commit = try #require(pending.commits.first).entry
      let record = try #require(commit.tables.first?.records.first)
      func push(
        _ entry: HistoryEntry, at position: HistoryPosition, as device: String = "Ann"
      ) async throws -> String? {
        code(
          try await send(
            SyncRequest.push(basedOn: position, commits: [HistoryFormat.encoded(entry)]).bytes,
            to: network, as: device))
      }
      let other = HistoryPosition(
        historyID: UUID(), number: position.number, token: position.token)
      #expect(try await push(commit, at: other) == "otherHistory")
      // Bob was never given the row.
      #expect(try await push(commit, at: position, as: "Bob") == "invalidArgument")
      func entry(_ name: String, _ rowID: UInt32, _ bytes: [UInt8]?) -> HistoryEntry {
        HistoryEntry(
          commit: commit.commit,
          tables: [.init(name: name, records: [.init(rowID: rowID, before: nil, after: bytes)])])
      }
      for wrong in [
        entry("Song", 1, record.after), entry("Song", .max, record.after),
        entry("Nothing", record.rowID, record.after),
      ] {
        #expect(try await push(wrong, at: position) == "invalidArgument")
      }
      // No record of the class: another class's, and bytes.
      #expect(
        try await push(entry("Artist", record.rowID, record.after), at: position) == "damaged")
      #expect(try await push(entry("Song", record.rowID, [1, 2, 3]), at: position) == "damaged")
      let layouts = HistoryEntry(
        commit: commit.commit,
        buffers: [.init(name: "Song..layouts", before: nil, after: [1])])
      #expect(try await push(layouts, at: position) == "invalidArgument")
      #expect(try contents(network.backend) == before)
    }

    @Test("A request for too much is refused")
    func limits() async throws {
      let (network, _) = try await network()
      let many = SyncClass(name: "Song", metadata: [], layouts: [], rowCount: 1_000_001)
      #expect(
        code(try await send(SyncRequest.join([many]).bytes, to: network)) == "invalidArgument")
      let long = [UInt8](repeating: 0, count: (32 << 20) + 1)
      #expect(code(try await send(long, to: network)) == "tooLarge")
      let pull = SyncRequest.pull(after: nil, byteLimit: 1).bytes
      #expect(code(try await send(pull, to: network, as: "")) == "invalidArgument")
    }

    @Test("An answer with any changed byte, or cut anywhere, is an error and changes nothing")
    func hostileServer() async throws {
      let (network, ann) = try await network()
      let bob = try network.device("Bob")
      try await bob.sync()
      try await ann.sync()
      let before = try contents(bob.backend)
      var generator = Seeds.generator(for: "answers of hostile servers")
      for round in 0..<60 {
        let transport = SpoilingTransport(
          network.server, SyncDevice(id: "Bob"), seed: generator.next(), cuts: round % 2 == 0)
        let client = try SyncClient(
          backend: bob.backend, classes: syncedClasses, transport: transport)
        await #expect(throws: (any Error).self) { try await client.sync() }
        #expect(try contents(bob.backend) == before)
      }
      try await bob.sync()
      #expect(try contents(bob.backend) == contents(network.backend))
    }

    @Test("The page on the protocol has the bytes of a request")
    func page() throws {
      let bytes = SyncRequest.pull(after: nil, byteLimit: 4 << 20).bytes
      let hex = bytes.map { String(format: "%02x", $0) }.joined(separator: " ")
      #expect(hex == "53 4f 73 72 03 00 02 00 00 40 00 00 00 00 00 00 9c d7 5d 1c")
      #expect(try SyncRequest(bytes) == .pull(after: nil, byteLimit: 4 << 20))
    }
  }

  /// Changes a byte of each answer, or cuts it.
  private struct SpoilingTransport: SyncTransport {
    let server: SyncServer
    let device: SyncDevice
    let random: SharedLock<SeededGenerator>
    let cuts: Bool

    init(_ server: SyncServer, _ device: SyncDevice, seed: UInt64, cuts: Bool) {
      (self.server, self.device, self.cuts) = (server, device, cuts)
      random = SharedLock(SeededGenerator(seed: seed))
    }

    func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
      let parts = SharedLock<[UInt8]>([])
      await server.answer(request, from: device) { bytes in parts.withLock { $0 += bytes } }
      var bytes = parts.withLock { $0 }
      let index = random.withLock { Int.random(in: 0..<bytes.count, using: &$0) }
      if cuts { bytes.removeLast(bytes.count - index) } else { bytes[index] ^= 0x10 }
      try await receive(bytes)
    }
  }
#endif
