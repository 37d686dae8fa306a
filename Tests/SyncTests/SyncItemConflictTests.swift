#if Macros
  import Foundation
  import Locks
  import StoreEngine
  import StoredObjectsCore
  import Testing

  @testable import KeyValueStoreCore
  @testable import StoredObjectsSync

  @Suite("Conflicts of items in a sync")
  struct SyncItemConflictTests {
    @Test("Two values of one key are a conflict, and nothing is lost before a decision")
    func undecided() async throws {
      let (network, ann, bob) = try await itemPair()
      try ann.put("Ann's", "a")
      try bob.put("Bob's", "a")
      try bob.put("Bob's", "b")
      try await bob.sync()
      let error = await #expect(throws: StoreError.self) { try await ann.sync() }
      #expect(error?.code == .conflict && error?.location.key == "a")
      #expect(error?.location.table == "notes")
      #expect(ann.asked.withLock { $0 } == ["notes/a: first > Ann's | Bob's"])
      #expect(try ann.get("a") == "Ann's")
      #expect(try ann.get("b") == "first")
      #expect(try await ann.device.client.pendingCount == 1)
      let server = try KeyValueStore(backend: network.backend)
      #expect(try server.table("notes").get("a", as: String.self) == "Bob's")
      // The user takes the other value.
      try ann.put("Bob's", "a")
      #expect(try await ann.sync().conflicts == 0)
      #expect(try items(ann.store) == items(server))
    }

    @Test(
      "A decision takes one side's item, also of one that the other has deleted or put first",
      arguments: [true, false])
    func sides(_ isMine: Bool) async throws {
      let (network, ann, bob) = try await itemPair { _ in isMine ? .mine : .theirs }
      try ann.put("Ann's", "a")
      try ann.put(nil, "b")
      try ann.put("Ann's", "c")
      try ann.put("Ann's", "new")
      try bob.put("Bob's", "a")
      try bob.put("Bob's", "b")
      try bob.put(nil, "c")
      try bob.put("Bob's", "new")
      try await bob.sync()
      let report = try await ann.sync()
      #expect(report.conflicts == 4)
      #expect(
        ann.asked.withLock { $0 } == [
          "notes/a: first > Ann's | Bob's", "notes/b: first > - | Bob's",
          "notes/c: first > Ann's | -", "notes/new: - > Ann's | Bob's",
        ])
      try await bob.sync()
      let server = try KeyValueStore(backend: network.backend)
      #expect(try items(ann.store) == items(server))
      #expect(try items(bob.store) == items(server))
      let found = try ["a", "b", "c", "new"].map { try ann.get($0) ?? "-" }
      let wanted = isMine ? ["Ann's", "-", "Ann's", "Ann's"] : ["Bob's", "Bob's", "-", "Bob's"]
      #expect(found == wanted)
      // Decided once.
      #expect(try await ann.sync().conflicts == 0)
      #expect(bob.asked.withLock { $0 }.isEmpty)
    }

    @Test("A conflict after a decision is one with the item that the decision has left")
    func again() async throws {
      let network = try SyncNetwork()
      let ann = try ItemDevice("Ann", network) { _ in .mine }
      let bob = try ItemDevice("Bob", network)
      try await ann.sync()
      try await bob.sync()
      try bob.put("one", "a")
      try await bob.sync()
      try ann.put("Ann's", "a")
      // The pull is decided, and the push does not reach the server.
      let requests = SharedLock(0)
      ann.device.transport.fault.withLock {
        $0 = {
          requests.withLock { count in
            count += 1
            return count > 1 ? .lostRequest : .none
          }
        }
      }
      await #expect(throws: LocalTransport.Lost.self) { try await ann.sync() }
      ann.device.transport.fault.withLock { $0 = { .none } }
      try bob.put("two", "a")
      try await bob.sync()
      try await ann.sync()
      #expect(
        ann.asked.withLock { $0 } == [
          "notes/a: - > Ann's | one", "notes/a: one > Ann's | two",
        ])
      try await bob.sync()
      #expect(try bob.get("a") == "Ann's")
    }

    @Test("Equal values, changes that end where they began, and other keys are no conflict")
    func none() async throws {
      let (network, ann, bob) = try await itemPair()
      try ann.put("same", "a")
      try ann.put("other", "b")
      try ann.put("first", "b")
      try ann.put(nil, "c")
      try bob.put("same", "a")
      try bob.put("Bob's", "b")
      try bob.put(nil, "c")
      try bob.put("Bob's", "d")
      try ann.put("Ann's", "e")
      try await bob.sync()
      try await ann.sync()
      try await bob.sync()
      let server = try KeyValueStore(backend: network.backend)
      #expect(try items(ann.store) == items(server))
      #expect(try items(bob.store) == items(server))
      #expect(try ann.get("b") == "Bob's")
      #expect(try ann.get("e") == "Ann's")
      #expect(try ann.get("c") == nil)
      #expect(ann.asked.withLock { $0 }.isEmpty)
    }

    @Test("An item that has expired, and that one side has removed, is no conflict")
    func expired() async throws {
      let network = try SyncNetwork()
      let (ann, bob) = (try ItemDevice("Ann", network), try ItemDevice("Bob", network))
      try await ann.sync()
      let sessions = try await ann.store.createTable("sessions")
      for key in ["a", "b"] {
        try await sessions.put("old", for: key, expiresAfter: .milliseconds(1))
      }
      try await ann.sync()
      try await bob.sync()
      try await Task.sleep(for: .milliseconds(20))
      // Each write removes items of its table that have expired.
      try await sessions.put("Ann's", for: "a")
      try bob.put("Bob's", "b", in: "sessions")
      try await bob.sync()
      try await ann.sync()
      try await bob.sync()
      #expect(try items(ann.store) == items(bob.store))
      #expect(try ann.get("a", in: "sessions") == "Ann's")
      #expect(try ann.get("b", in: "sessions") == "Bob's")
      #expect(ann.asked.withLock { $0 }.isEmpty && bob.asked.withLock { $0 }.isEmpty)
      for device in [ann, bob] {
        let expiry = try device.device.backend.orderedTable(
          OrderedTableName("KeyValueExpiry-1", kind: .data))
        #expect(try device.device.backend.keyCount(in: expiry, KeyRange()) == 0)
      }
    }

    @Test("A table that one side has dropped stays if the other has put something new into it")
    func droppedTables() async throws {
      for isDroppedHere in [true, false] {
        let (network, ann, bob) = try await itemPair()
        let (first, second) = isDroppedHere ? (bob, ann) : (ann, bob)
        try first.put("new", "new")
        try await second.store.dropTable("notes")
        try second.put("other", "other", in: "other")
        try await bob.sync()
        try await ann.sync()
        try await bob.sync()
        try await ann.sync()
        let server = try KeyValueStore(backend: network.backend)
        #expect(try items(ann.store) == items(server), "\(isDroppedHere)")
        #expect(try items(bob.store) == items(server), "\(isDroppedHere)")
        #expect(server.tableNames() == ["notes", "other"])
        #expect(try server.table("notes").all.keys() == ["new"])
        #expect(ann.asked.withLock { $0 }.isEmpty && bob.asked.withLock { $0 }.isEmpty)
        // Its items have an owner on all sides.
        try bob.put("later", "later")
        try await bob.sync()
        try await ann.sync()
        #expect(try ann.get("later") == "later")
        #expect(try ann.get("new") == "new")
      }
    }

    @Test(
      "A table that both sides have dropped, and one has made again, follows the others' changes",
      arguments: [false, true])
    func tablesMadeAgain(withObjects: Bool) async throws {
      let (network, ann, bob) = try await itemPair()
      let store = try ann.device.store()
      let song = Song()
      store.insert(song)
      try store.saveChanges()
      try await ann.sync()
      try await bob.sync()
      try await bob.store.dropTable("notes")
      try await ann.store.dropTable("notes")
      try ann.put("new", "new")
      if withObjects {
        // An object that both have changed makes one commit of those of a device.
        (song.title, song.seconds) = ("Ann's", 1)
        try store.saveChanges()
        let others = try bob.device.store()
        let same = try #require(try others.allObjects(of: Song.self).first)
        (same.title, same.seconds) = ("Bob's", 2)
        try others.saveChanges()
      }
      try await bob.sync()
      try await ann.sync()
      try await bob.sync()
      try bob.put("later", "later")
      try await bob.sync()
      try await ann.sync()
      #expect(try ann.get("later") == "later")
      #expect(try items(ann.store) == items(KeyValueStore(backend: network.backend)))
    }

    @Test("A table that both sides have dropped, or one that nobody uses, is gone")
    func goneTables() async throws {
      let (network, ann, bob) = try await itemPair()
      for device in [ann, bob] { try await device.store.dropTable("notes") }
      try await bob.sync()
      try await ann.sync()
      try ann.put("a", "a")
      try await ann.sync()
      try await bob.sync()
      try await bob.store.dropTable("notes")
      try await bob.sync()
      try await ann.sync()
      #expect(ann.store.tableNames().isEmpty)
      #expect(try KeyValueStore(backend: network.backend).tableNames().isEmpty)
    }

    @Test("Changes of items that make no sense are refused, and change nothing")
    func hostile() async throws {
      let (network, ann, _) = try await itemPair()
      let position = try network.backend.historyPosition()
      let server = try KeyValueStore(backend: network.backend)
      let before = try items(server)
      try ann.put("second", "a")
      let real = try #require(try await ann.device.client.pendingCommits().commits.first).sent
      let change = try #require(real.orderedTables.first?.keys.first)
      func answer(_ name: String, _ keys: [HistoryEntry.KeyChange]) async throws -> String {
        let entry = HistoryEntry(
          commit: real.commit,
          orderedTables: [.init(name: OrderedTableName(name, kind: .data), keys: keys)])
        let parts = SharedLock<[UInt8]>([])
        await network.server.answer(
          SyncRequest.push(basedOn: position, commits: [HistoryFormat.encoded(entry)]).bytes,
          from: SyncDevice(id: "Ann")
        ) { bytes in parts.withLock { $0 += bytes } }
        switch try SyncAnswer(parts.withLock { $0 }) {
        case .failed(let code, _): return code
        case .accepted: return "accepted"
        default: return "?"
        }
      }
      func item(_ key: [UInt8], _ after: [UInt8]?) -> [HistoryEntry.KeyChange] {
        [.init(key: key, before: after == nil ? [] : nil, after: after)]
      }
      let (key, body) = (change.key, change.after ?? [])
      let notes = Array("notes".utf8)
      for (name, keys) in [
        ("KeyValueItems", item(key, [])), ("KeyValueItems", item(key, [1, 2, 3])),
        ("KeyValueItems", item(key, body + [0])), ("KeyValueItems", item([0, 0], body)),
        ("KeyValueItems", item([255, 255, 255, 255, 0], body)),
        ("KeyValueItems", item([0, 0, 0, 1, 255, 97], body)),
        ("KeyValueItems", item([0, 0, 0, 1, 97, 255], body)),
        ("KeyValueItems", item(key, body) + item(key, nil)),
        ("KeyValueTables", item(notes, [1])), ("KeyValueTables", item([255], [])),
        // It has items.
        ("KeyValueTables", item(notes, nil)),
        ("KeyValueItems-1", item(Array("a".utf8), body)), ("CommitHistory", item([0], nil)),
        ("Synchronization", item([0], nil)), ("KeyValueExpiry-1", item([0], [])),
      ] {
        #expect(try await answer(name, keys) == "invalidArgument", "\(name) \(keys)")
      }
      #expect(try items(server) == before)
      #expect(try await answer("KeyValueItems", item(key, body)) == "accepted")
      #expect(try items(server) != before)
    }

    @Test("Items of a hostile server are an error, and tables whose names are no text are ignored")
    func hostileServer() throws {
      var tables = ItemTables([1: Array("notes".utf8)])
      func changes(
        _ name: OrderedTableName, _ key: [UInt8], _ value: [UInt8]
      ) throws(StoreError) -> ItemChanges {
        let commit = Commit(
          number: 1, token: UUID(), author: "", microseconds: 0, basedOn: nil)
        return try tables.changes(
          of: HistoryEntry(
            commit: commit,
            orderedTables: [.init(name: name, keys: [.init(key: key, before: nil, after: value)])]))
      }
      let place = ItemPlace(table: Array("notes".utf8), key: Array("a".utf8))
      let body: [UInt8] = [16, 0, 0, 0, 0, 0, 0, 0, 0, 2]
      let record = ItemBody.record(body, place.key, in: 1)
      let items = Catalogue.items(1)
      #expect(try changes(items, place.key, record).items[place]?.after == body)
      for (key, value) in [
        (place.key, Array(record.dropLast())), (Array("b".utf8), record),
        ([255], ItemBody.record(body, [255], in: 1)),
      ] {
        let error = #expect(throws: StoreError.self) { _ = try changes(items, key, value) }
        #expect(error?.code == .damaged)
      }
      // Nobody sees items of a table that is not in the list.
      #expect(try changes(Catalogue.items(2), place.key, record).isEmpty)
      let name: [UInt8] = [255]
      let entry = Catalogue.entry(2, String(decoding: name, as: UTF8.self))
      #expect(try changes(Catalogue.list, name, entry).isEmpty)
      #expect(Set(tables.names.keys) == [1])
    }

    @Test("A device of a version without items is refused, once the server's store has items")
    func versions() async throws {
      for version in [UInt16(1), 2] {
        let request = SyncFormat.message(SyncFormat.requestMagic, 2, in: version) { buffer in
          buffer.write(UInt64(1000))
          buffer.write(false)
        }
        func bytes(_ network: SyncNetwork) async -> [UInt8] {
          let parts = SharedLock<[UInt8]>([])
          await network.server.answer(request, from: SyncDevice(id: "Old")) { bytes in
            parts.withLock { $0 += bytes }
          }
          return parts.withLock { $0 }
        }
        let empty = try SyncNetwork()
        #expect(await bytes(empty).starts(with: SyncAnswer.history.bytes(in: version)))
        let (network, _, _) = try await itemPair()
        let answer = await bytes(network)
        #expect(SyncFormat.version(of: answer, SyncFormat.answerMagic) == version)
        guard case .failed("newerVersion", let message) = try SyncAnswer(answer) else {
          Issue.record("version \(version) is refused")
          continue
        }
        #expect(message.contains("items"))
      }
    }

    @Test("A store with items can't become a device's")
    func notEmpty() async throws {
      let backend = try MemoryBackend()
      try await KeyValueStore(backend: backend).createTable("notes")
      let network = try SyncNetwork()
      let error = #expect(throws: StoreError.self) { _ = try network.device("Ann", backend) }
      #expect(error?.code == .invalidArgument)
    }
  }
#endif
