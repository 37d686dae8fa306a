import Foundation
import KeyValueStore
import StoredObjectsCore
import TestedBackends
import Testing

@Suite("Items")
struct ItemTests {
  @Test("An item can be read until it is deleted", arguments: TestedPlace.all)
  func putGetDelete(_ kind: TestedPlace) throws {
    try kind.withTable { table, clock in
      #expect(try table.get("k", as: String.self) == nil)
      try table.put("one", for: "k")
      #expect(try table.contains("k"))
      #expect(try table.get("k", as: String.self) == "one")
      let created = clock.now
      clock.advance(5)
      try table.put(2, for: "k")
      let item = try #require(try table.item("k"))
      #expect(item.key == "k")
      #expect(item.value == .int(2))
      #expect(item.createdAt == created)
      #expect(item.updatedAt == clock.now)
      #expect(item.expiresAt == nil)
      #expect(try table.delete("k"))
      #expect(try !table.delete("k"))
      #expect(try !table.contains("k"))
      #expect(try table.item("k") == nil)
      try table.put(3, for: "k")
      #expect(try table.item("k")?.createdAt == clock.now)
    }
  }

  @Test("Many items are deleted at once, by a list and by a prefix", arguments: TestedPlace.all)
  func deleteMany(_ kind: TestedPlace) throws {
    try kind.withTable { table, _ in
      try table.put(["a": 1, "a1": 2, "a2": 3, "b": 4, "c": 5])
      #expect(try table.delete(["a", "b", "none"]) == 2)
      #expect(try table.deleteAll(prefix: "a") == 2)
      #expect(try table.all.keys() == ["c"])
      #expect(try table.deleteAll(prefix: "") == 1)
      #expect(try table.count() == 0)
    }
  }

  /// Keys that would be something else in SQL, in a file name or in a pattern.
  static let tricks = [
    "", "%", "_", "'", "\"", "';DROP TABLE a;--", "..", "../../x", "/etc/passwd", "a/b", "\0",
    "a\0b", ".", "NULL", "é", "e\u{301}", "😀", "\u{FFFF}", "\u{10FFFF}", "\n", " ", "\\", "*",
    "KeyValueTables", "a%b", "a_b", "axb", "%2F",
  ]

  @Test("Keys and prefixes are literal", arguments: TestedPlace.all)
  func trickyKeys(_ kind: TestedPlace) throws {
    try kind.withTable { table, _ in
      for (index, key) in Self.tricks.enumerated() { try table.put(index, for: key) }
      for (index, key) in Self.tricks.enumerated() {
        #expect(try table.get(key, as: Int.self) == index, "\(key.debugDescription)")
      }
      let sorted = Self.tricks.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
      #expect(try table.all.keys().map { Array($0.utf8) } == sorted)
      #expect(try table.prefix("%").keys() == ["%", "%2F"])
      #expect(try table.prefix("a_").keys() == ["a_b"])
      #expect(try table.prefix("a%").keys() == ["a%b"])
      #expect(try table.deleteAll(prefix: "_") == 1)
      #expect(try table.deleteAll(prefix: "'") == 2)
      #expect(try table.count() == Self.tricks.count - 3)
    }
  }

  @Test("Ranges and pages have the order of the bytes of keys", arguments: TestedPlace.all)
  func trickyRanges(_ kind: TestedPlace) throws {
    try kind.withTable { table, _ in
      try table.store.write { batch in
        for (index, key) in Self.tricks.enumerated() { try batch.put(index, for: key, in: table) }
      }
      // Strings that are equal may differ in their bytes, so these are compared.
      let sorted = Self.tricks.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      func bytes(_ keys: some Sequence<String>) -> [[UInt8]] { keys.map { Array($0.utf8) } }
      for (index, key) in sorted.enumerated() {
        #expect(try bytes(table.all.after(key).keys()) == bytes(sorted[(index + 1)...]))
        #expect(try bytes(table.all.before(key).keys()) == bytes(sorted[..<index]))
        #expect(try bytes(table.range(from: key).keys()) == bytes(sorted[index...]))
        #expect(
          try bytes(table.prefix(key).keys())
            == bytes(sorted.filter { $0.utf8.starts(with: key.utf8) }))
        let end = sorted[(index * 7 + 3) % sorted.count]
        let wanted = sorted[index...].filter { $0.utf8.lexicographicallyPrecedes(end.utf8) }
        #expect(try bytes(table.range(from: key, to: end).keys()) == bytes(wanted))
        #expect(try table.range(from: key, to: end).count() == wanted.count)
      }
    }
  }

  @Test(
    "Tables have any names, and their files stay in the store", arguments: TestedPlace.all)
  func trickyTables(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let store = try location.open()
      for (index, name) in Self.tricks.enumerated() {
        try store.createTable(name).put(index, for: "k")
      }
      try store.close()
      let again = try location.open()
      #expect(again.tableNames().count == Self.tricks.count)
      for (index, name) in Self.tricks.enumerated() {
        #expect(try again.table(name).get("k", as: Int.self) == index, "\(name.debugDescription)")
      }
      try again.close()
      guard case .backend(let backend) = kind, backend != .memory else { return }
      let parent = URL(fileURLWithPath: location.path).deletingLastPathComponent().path
      #expect(try FileManager.default.contentsOfDirectory(atPath: parent) == ["store"])
      let names = try FileManager.default.subpathsOfDirectory(atPath: location.path)
      // One for the list, one for each table, and those of the backend itself.
      let own = names.filter { $0.hasSuffix(".ordered") }
      #expect(own.count == Self.tricks.count + 1)
      let others = Set(names).subtracting(own)
      #expect(
        others.isSubset(of: ["Commit.key", "Commit.log", "Commit.manifest", "NamedBuffers.cdb"]))
    }
  }

  @Test("Long keys and large values are kept", arguments: TestedPlace.all)
  func large(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let key = String(repeating: "long ", count: 40_000)
      let value = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let store = try location.open()
      let table = try store.createTable("a")
      try table.put(value, for: key)
      try table.put("small", for: key + "!")
      try store.close()
      let again = try location.open()
      #expect(try again.table("a").get(key, as: Data.self) == value)
      #expect(try again.table("a").all.after(key).keys() == [key + "!"])
      try again.close()
    }
  }

  @Test("A batch is atomic, and sees its own writes", arguments: TestedPlace.all)
  func batch(_ kind: TestedPlace) throws {
    struct Stop: Error {}
    try kind.withTable { table, clock in
      let other = try table.store.createTable("other")
      try table.put(["a": 1, "b": 2])
      #expect(throws: Stop.self) {
        try table.store.write { batch in
          try batch.put(3, for: "c", in: table)
          try batch.removeAll(from: other)
          throw Stop()
        }
      }
      #expect(try table.count() == 2)
      clock.advance(1)
      try table.store.write { batch in
        try batch.put(10, for: "a", in: table)
        #expect(try batch.get("a", from: table, as: Int.self) == 10)
        #expect(try batch.delete("a", from: table))
        #expect(try !batch.contains("a", in: table))
        try batch.put(11, for: "a", in: table, expiresAfter: .seconds(5))
        try batch.put(12, for: "a", in: table)
        try batch.put(1, for: "b2", in: table)
        #expect(try batch.deleteAll(prefix: "b", from: table) == 2)
        try batch.put(1, for: "x", in: other)
        try batch.removeAll(from: other)
        #expect(try batch.get("x", from: other, as: Int.self) == nil)
        try batch.put(2, for: "y", in: other)
      }
      #expect(try table.all.items().map(Pair.init) == [Pair("a", 12)])
      // Deleted and put again, it is a new one.
      #expect(try table.item("a")?.createdAt == clock.now)
      #expect(try other.all.items().map(Pair.init) == [Pair("y", 2)])
      clock.advance(10)
      #expect(try table.count() == 1)
    }
  }

  @Test("Selections: ranges, pages, filters and orders", arguments: TestedPlace.all)
  func selections(_ kind: TestedPlace) throws {
    try kind.withTable { table, clock in
      for index in 0..<600 {
        if index % 100 == 0 { clock.advance(1) }
        try table.put(599 - index, for: String(index + 1000))
      }
      #expect(try table.count() == 600)
      #expect(try table.range(from: "1010", to: "1020").keys() == (1010..<1020).map(String.init))
      let end = try table.range(from: "1595").reversed().keys()
      #expect(end == (1595..<1600).reversed().map { "\($0)" })
      #expect(try table.prefix("101").count() == 10)
      var (pages, last) = ([String](), "")
      while true {
        let page = try table.all.after(last).limit(70).keys()
        guard let end = page.last else { break }
        (pages, last) = (pages + page, end)
      }
      #expect(pages == (1000..<1600).map(String.init))
      #expect(try table.all.before("1003").reversed().limit(2).keys() == ["1002", "1001"])
      #expect(try table.all.offset(598).keys() == ["1598", "1599"])
      #expect(try table.all.offset(590).limit(20).count() == 10)
      let byValue = table.prefix("12").sorted { try $0.decoded(as: Int.self) }
      #expect(try byValue.limit(2).keys() == ["1299", "1298"])
      for bad in [table.all.limit(-1), table.all.offset(-1), byValue.limit(.min)] {
        #expect(code { _ = try bad.items() } == "invalidArgument")
        #expect(code { _ = try bad.keys() } == "invalidArgument")
        #expect(code { _ = try bad.first() } == "invalidArgument")
        #expect(code { _ = try bad.count() } == "invalidArgument")
        #expect(code { try bad.forEach { _ in } } == "invalidArgument")
      }
      #expect(try byValue.offset(99).keys() == ["1200"])
      #expect(try table.all.sorted { $0.updatedAt > $1.updatedAt }.first()?.key == "1500")
      let even = table.all.filter { $0.value == .int(4) || $0.value == .int(6) }
      #expect(try even.count() == 2)
      #expect(try even.filter { $0.key > "1594" }.values(as: Int.self) == [4])
      var seen: [String] = []
      try table.all.forEach { item in
        seen.append(item.key)
        if item.key.hasSuffix("7") { try table.delete(item.key) }
      }
      #expect(seen == (1000..<1600).map(String.init))
      seen = []
      try table.all.reversed().offset(1).limit(300).forEach { seen.append($0.key) }
      #expect(seen.count == 300 && seen.first == "1598")
      #expect(try table.count() == 540)
      #expect(try table.prefix("10").filter { $0.key < "1050" }.delete() == 45)
      #expect(try table.all.first()?.key == "1050")
      #expect(code { _ = try table.all.values(as: String.self) } == "typeMismatch")
    }
  }

  @Test(
    "An expired item can't be read, whether or not it has been removed", arguments: TestedPlace.all
  )
  func expiry(_ kind: TestedPlace) throws {
    try kind.withLocation { location in
      let store = try location.open()
      let (table, other) = (try store.createTable("a"), try store.createTable("b"))
      try table.put(1, for: "stays")
      try table.put(2, for: "goes", expiresAfter: .seconds(10))
      try table.put(3, for: "is renewed", expiresAfter: .seconds(10))
      try table.put(4, for: "is kept", expiresAfter: .seconds(10))
      try table.put(4, for: "is kept")
      try other.put(["x": 1, "y": 2], expiresAfter: .milliseconds(10_500))
      #expect(try table.item("goes")?.expiresAt == location.clock.now + 10)
      location.clock.advance(9)
      try table.put(3, for: "is renewed", expiresAfter: .seconds(10))
      #expect(try table.count() == 4)
      location.clock.advance(1)
      #expect(try table.get("goes", as: Int.self) == nil)
      #expect(try !table.contains("goes"))
      #expect(try table.count() == 3)
      #expect(try table.prefix("g").count() == 0)
      #expect(try table.all.keys() == ["is kept", "is renewed", "stays"])
      #expect(try table.all.items().count == 3)
      #expect(try !table.delete("goes"))
      try store.close()

      location.clock.advance(1)
      let again = try location.open()
      let b = try again.table("b")
      #expect(try b.count() == 0)
      #expect(try again.purgeExpired() == 2)
      #expect(try again.purgeExpired() == 0)
      let created = location.clock.now
      try b.put(1, for: "x")
      #expect(try b.item("x")?.createdAt == created)
      #expect(code { try b.put(1, for: "y", expiresAfter: .zero) } == "invalidExpiry")
      #expect(code { try b.put(1, for: "y", expiresAfter: .seconds(-1)) } == "invalidExpiry")
      try again.close()
    }
  }

  @Test("Writes remove expired items of their tables")
  func sweep() throws {
    let clock = TestClock()
    let backend = try MemoryBackend()
    let store = try KeyValueStore(backend: backend) { clock.now }
    let table = try store.createTable("a")
    try store.write { batch in
      for index in 0..<200 {
        try batch.put(index, for: "\(index)", in: table, expiresAfter: .seconds(1))
      }
    }
    clock.advance(2)
    #expect(try table.count() == 0)
    let items = try backend.orderedTable(OrderedTableName("KeyValueItems-1", kind: .data))
    let times = try backend.orderedTable(OrderedTableName("KeyValueExpiry-1", kind: .data))
    #expect(try backend.keyCount(in: items, KeyRange()) == 200)
    for _ in 0..<4 { try table.put(1, for: "x") }
    #expect(try backend.keyCount(in: items, KeyRange()) == 1)
    #expect(try backend.keyCount(in: times, KeyRange()) == 0)
  }

  @Test("A table whose expired items are all gone is swept again when others expire")
  func sweepAgain() throws {
    let clock = TestClock()
    let backend = try MemoryBackend()
    let store = try KeyValueStore(backend: backend) { clock.now }
    let table = try store.createTable("a")
    let times = try backend.orderedTable(OrderedTableName("KeyValueExpiry-1", kind: .data))
    for round in 0..<3 {
      try table.put(round, for: "stays")
      try table.put(round, for: "goes", expiresAfter: .seconds(1))
      #expect(try backend.keyCount(in: times, KeyRange()) == 1, "round \(round)")
      clock.advance(2)
      for _ in 0..<40 { try table.put(round, for: "stays") }
      #expect(try backend.keyCount(in: times, KeyRange()) == 0, "round \(round)")
      // No key is left of the removals, either.
      #expect(try backend.view(of: times).isEmpty)
    }
  }

  @Test("Items are copied with their times")
  func copying() throws {
    let clock = TestClock()
    let store = try KeyValueStore(backend: MemoryBackend()) { clock.now }
    let (from, to) = (try store.createTable("a"), try store.createTable("b"))
    try from.put("v", for: "k", expiresAfter: .seconds(60))
    clock.advance(30)
    try from.put("w", for: "l")
    try store.write { batch in for item in try from.all.items() { try batch.put(item, in: to) } }
    #expect(try to.all.items() == from.all.items())
    clock.advance(31)
    #expect(try to.all.keys() == ["l"])
  }
}
