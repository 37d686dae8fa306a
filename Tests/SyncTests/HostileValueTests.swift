#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import StoredObjectsTestSupport
  import Testing

  @testable import StoredObjectsSync

  @Suite("Hostile values")
  struct HostileValueTests {
    /// A network with a device that has saved a recording, and one that it has not sent.
    private func network(
      limits: SyncLimits = SyncLimits()
    ) async throws -> (SyncNetwork, Device, ExternalReference) {
      let network = try SyncNetwork(MemoryBackend(), limits: limits)
      let ann = try network.device("Ann")
      try await ann.sync()
      let store = try ann.store()
      for seed in 0..<2 {
        let recording = Recording()
        recording.audio = ExternalData(noise(1000, seed))
        store.insert(recording)
        try store.saveChanges()
        if seed == 0 { try await ann.sync() }
      }
      let pending = try await ann.client.pendingCommits()
      let reference = try #require(pending.commits.first?.entry.newValues.first)
      return (network, ann, reference)
    }

    private func send(
      _ request: SyncRequest, to network: SyncNetwork, as device: String = "Ann"
    ) async throws -> SyncAnswer {
      try SyncAnswer(await bytes(request.bytes, network, device))
    }

    private func bytes(
      _ request: [UInt8], _ network: SyncNetwork, _ device: String = "Ann"
    ) async -> [UInt8] {
      let parts = SharedLock<[UInt8]>([])
      await network.server.answer(request, from: SyncDevice(id: device)) { bytes in
        parts.withLock { $0 += bytes }
      }
      return parts.withLock { $0 }
    }

    private func code(_ answer: SyncAnswer) -> String? {
      if case .failed(let code, _) = answer { code } else { nil }
    }

    private func value(_ bytes: [UInt8]) -> ExternalReference {
      ExternalReference(
        id: .random(), byteCount: bytes.count, checksum: ExternalValueWriter.checksum(bytes))
    }

    @Test("A commit is refused before its value has come, or if it comes from another device")
    func early() async throws {
      let (network, ann, reference) = try await network()
      let before = try contents(network.backend)
      let pending = try await ann.client.pendingCommits()
      let position = try network.backend.historyPosition()
      let push = SyncRequest.push(
        basedOn: position,
        commits: pending.commits.map { HistoryFormat.encoded($0.sent) })
      #expect(code(try await send(push, to: network)) == "recordMissing")
      // Half of it is not enough.
      let half = ValuePart(reference, Array(noise(1000, 1)[..<500]))
      #expect(try await send(.send([half]), to: network) == .stored([500]))
      #expect(code(try await send(push, to: network)) == "recordMissing")
      #expect(try contents(network.backend) == before)
      let rest = ValuePart(reference, offset: 500, Array(noise(1000, 1)[500...]))
      #expect(try await send(.send([rest]), to: network) == .stored([1000]))
      guard case .accepted = try await send(push, to: network) else {
        Issue.record("the commit is accepted after its value")
        return
      }
      try await ann.sync()
      #expect(try contents(network.backend) == contents(ann.backend))
    }

    @Test("Parts that are out of order, too long, or have a wrong checksum leave nothing behind")
    func parts() async throws {
      let (network, _, _) = try await network()
      let before = try network.backend.values().all
      let good = noise(1000, 7)
      let reference = value(good)
      // Out of order: the server says where to continue.
      for offset in [1, 500, 1000] {
        let part = ValuePart(reference, offset: offset, offset == 1000 ? [] : [1])
        #expect(try await send(.send([part]), to: network) == .stored([0]))
      }
      #expect(
        try await send(.send([ValuePart(reference, Array(good[..<10]))]), to: network)
          == .stored([10]))
      for offset in [0, 9, 11] {
        let part = ValuePart(reference, offset: offset, [1, 2])
        #expect(try await send(.send([part]), to: network) == .stored([10]))
      }
      // A part outside of its value.
      for part in [
        ValuePart(reference, offset: 10, Array(good[10...]) + [1]),
        ValuePart(reference, offset: 1001, []),
      ] {
        #expect(code(try await send(.send([part]), to: network)) == "invalidArgument")
      }
      // Another content.
      let wrong = ValuePart(reference, offset: 10, noise(990, 8))
      #expect(code(try await send(.send([wrong]), to: network)) == "damaged")
      #expect(try network.backend.values().all == before)
      #expect(try await send(.send([ValuePart(reference)]), to: network) == .stored([0]))
      #expect(try await send(.send([ValuePart(reference, good)]), to: network) == .stored([1000]))
    }

    @Test("The ID of another value is refused, with another size and with another checksum")
    func otherValues() async throws {
      let (network, ann, _) = try await network()
      var known: ExternalReference?
      try ExternalCatalogue(network.backend).forEach { reference, _ in known = reference }
      let one = try #require(known)
      let before = try contents(network.backend)
      for other in [
        ExternalReference(id: one.id, byteCount: 3, checksum: one.checksum),
        ExternalReference(id: one.id, byteCount: one.byteCount, checksum: one.checksum ^ 1),
      ] {
        let part = ValuePart(other, [1, 2, 3])
        #expect(code(try await send(.send([part]), to: network)) == "invalidArgument")
        #expect(
          try await send(
            .fetch([ValuePlace(reference: other, offset: 0)], byteLimit: 100), to: network)
            == .values([], missing: [other]))
        // In a record, too.
        let pending = try await ann.client.pendingCommits()
        let commit = try #require(pending.commits.first?.entry)
        let reference = try #require(commit.newValues.first)
        let record = try #require(commit.tables.first?.records.first)
        let bytes = try #require(record.after)
        let table = HistoryEntry.TableChanges(
          name: "Recording",
          records: [
            .init(
              rowID: record.rowID, before: nil,
              after: try replaced(reference, by: other, in: bytes, network, record.rowID))
          ])
        let push = SyncRequest.push(
          basedOn: try network.backend.historyPosition(),
          commits: [
            HistoryFormat.encoded(HistoryEntry(commit: commit.commit, tables: [table]))
          ])
        #expect(code(try await send(push, to: network)) == "invalidArgument")
      }
      #expect(try contents(network.backend) == before)
    }

    /// Replaces a reference in a record, and its checksum.
    private func replaced(
      _ reference: ExternalReference, by other: ExternalReference, in record: [UInt8],
      _ network: SyncNetwork, _ rowID: UInt32
    ) throws -> [UInt8] {
      var (old, new) = (DataBuffer(), DataBuffer())
      old.write(reference)
      new.write(other)
      let (oldBytes, newBytes) = (old.bytes, new.bytes)
      let start = try #require(
        record.indices.first { record[$0...].starts(with: oldBytes) })
      var bytes = record
      bytes.replaceSubrange(start..<start + oldBytes.count, with: newBytes)
      let metadata = try #require(try network.backend.classMetadata(of: "Recording"))
      guard metadata.flags?.contains(.checksums) == true else { return bytes }
      var buffer = DataBuffer(Array(bytes.dropLast(4)))
      buffer.writeChecksum(classID: metadata.classID, rowID: rowID)
      return buffer.bytes
    }

    @Test("A device reads no value that no object has, and none of another device's uploads")
    func strangers() async throws {
      let (network, _, reference) = try await network()
      let bytes = noise(1000, 1)
      #expect(try await send(.send([ValuePart(reference, bytes)]), to: network) == .stored([1000]))
      for device in ["Ann", "Bob"] {
        let place = ValuePlace(reference: reference, offset: 0)
        #expect(
          try await send(.fetch([place], byteLimit: 5000), to: network, as: device)
            == .values([], missing: [reference]))
      }
    }

    @Test("Too much is refused: values that are too large, too many of them, and too many names")
    func limits() async throws {
      var limits = SyncLimits()
      (limits.valueByteCount, limits.waitingByteCount, limits.waitingCount) = (2000, 3000, 3)
      let start = ContinuousClock.now
      let (network, _, _) = try await network(limits: limits)
      func code(_ part: ValuePart) async throws -> String? {
        self.code(try await send(.send([part]), to: network))
      }
      let large = ExternalReference(id: .random(), byteCount: 2001, checksum: 0)
      #expect(try await code(ValuePart(large, [1])) == "tooLarge")
      let values = (0..<4).map { noise(1400, $0 + 10) }
      for bytes in values[..<2] { #expect(try await code(ValuePart(value(bytes), bytes)) == nil) }
      #expect(try await code(ValuePart(value(values[2]), values[2])) == "tooLarge")
      #expect(try await code(ValuePart(value([]), [])) == nil)
      #expect(try await code(ValuePart(value([1]), [1])) == "tooLarge")
      let many = [ValuePart](repeating: ValuePart(large), count: 10_001)
      #expect(self.code(try await send(.send(many), to: network)) == "tooLarge")
      #expect(
        self.code(
          try await send(.fetch(many.map(\.place), byteLimit: 1), to: network)) == "tooLarge")
      // They are gone after an hour.
      #expect(try network.backend.values().strays.count == 3)
      await network.server.expireWaiting(at: start + .seconds(3599))
      #expect(try network.backend.values().strays.count == 3)
      await network.server.expireWaiting(at: .now + .seconds(3601))
      #expect(try network.backend.values().strays.isEmpty)
    }

    @Test("A value from a hostile server is an error, and leaves nothing behind")
    func hostileServer() async throws {
      let (network, ann, _) = try await network()
      let bob = try network.device("Bob")
      try await bob.sync()
      try await ann.sync()
      let before = try (contents(bob.backend), bob.backend.values().all)
      for kind in 0..<4 {
        let transport = LyingTransport(network.server, SyncDevice(id: "Bob"), kind)
        let client = try SyncClient(
          backend: bob.backend, classes: syncedClasses, transport: transport)
        let error = await #expect(throws: StoreError.self) { try await client.sync() }
        #expect([.damaged, .recordMissing].contains(error?.code), "\(kind)")
        #expect(try contents(bob.backend) == before.0)
        #expect(try bob.backend.values().all == before.1)
      }
      try await bob.sync()
      #expect(try contents(bob.backend) == contents(network.backend))
    }

    @Test("A program of the first version gets an answer that it understands, or says so itself")
    func versions() async throws {
      let request = SyncFormat.message(SyncFormat.requestMagic, 2, in: 1) { buffer in
        buffer.write(UInt64(1000))
        buffer.write(false)
      }
      let empty = try SyncNetwork()
      #expect(await bytes(request, empty).starts(with: SyncAnswer.history.bytes(in: 1)))
      let (network, _, _) = try await network()
      let answer = await bytes(request, network)
      #expect(SyncFormat.version(of: answer, SyncFormat.answerMagic) == 1)
      #expect(code(try SyncAnswer(answer)) == "newerVersion")

      let client = try SyncClient(
        backend: MemoryBackend(), classes: syncedClasses, transport: FirstVersion())
      let error = await #expect(throws: StoreError.self) { try await client.sync() }
      #expect(error?.code == .newerVersion && error?.message.contains("version 1") == true)
    }

    @Test("The page on the protocol has the bytes of a value")
    func page() throws {
      let bytes = Array("Hello, value".utf8)
      let id = ExternalID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)
      let reference = ExternalReference(
        id: id, byteCount: 12, checksum: ExternalValueWriter.checksum(bytes))
      let request = SyncRequest.send([ValuePart(reference, bytes)])
      let hex = request.bytes.map { String(format: "%02x", $0) }.joined(separator: " ")
      #expect(
        hex == """
          53 4f 73 72 03 00 04 01 00 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 \
          0c 00 00 00 00 00 00 00 14 96 80 8b 00 00 00 00 00 00 00 00 0c 00 00 00 48 65 6c \
          6c 6f 2c 20 76 61 6c 75 65 e4 0b 05 f3
          """)
      #expect(try SyncRequest(request.bytes) == request)
    }
  }

  /// Answers like a server before values outside of records.
  private struct FirstVersion: SyncTransport {
    func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
      let answer = SyncAnswer.failed(
        code: "invalidArgument", message: "The request makes no sense: it has another version")
      try await receive(answer.bytes(in: 1))
    }
  }

  /// Changes the answers with values.
  private struct LyingTransport: SyncTransport {
    let server: SyncServer
    let device: SyncDevice
    let kind: Int

    init(_ server: SyncServer, _ device: SyncDevice, _ kind: Int) {
      (self.server, self.device, self.kind) = (server, device, kind)
    }

    func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws {
      let parts = SharedLock<[UInt8]>([])
      await server.answer(request, from: device) { bytes in parts.withLock { $0 += bytes } }
      var bytes = parts.withLock { $0 }
      if !bytes.starts(with: SyncAnswer.history.bytes),
        case .values(let parts, _) = try SyncAnswer(bytes)
      {
        bytes = lie(parts).bytes
      }
      try await receive(bytes)
    }

    private func lie(_ parts: [ValuePart]) -> SyncAnswer {
      switch kind {
      case 0: .values(parts.map { ValuePart($0.reference, $0.bytes.map { $0 ^ 1 }) }, missing: [])
      case 1: .values([], missing: [])
      case 2: .values([], missing: parts.map(\.reference))
      default:
        .values(
          parts.map { ValuePart($0.reference, offset: 10, Array($0.bytes[10...])) }, missing: [])
      }
    }
  }
#endif
