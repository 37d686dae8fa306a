import Files
import Foundation
import KeyValueStore
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// The expected contents of a store, as a dictionary.
private struct Model: Equatable {
  struct Item: Equatable {
    var value: StoredValue
    var createdAt: Date
    var updatedAt: Date
    var expiresAt: Date?
  }
  var tables: [String: [String: Item]] = [:]

  mutating func put(_ value: StoredValue, _ key: String, _ table: String, _ now: Date, _ life: Int?)
  {
    let old = tables[table]?[key].flatMap { ($0.expiresAt ?? .distantFuture) > now ? $0 : nil }
    tables[table]?[key] = Item(
      value: value, createdAt: old?.createdAt ?? now, updatedAt: now,
      expiresAt: life.map { now + TimeInterval($0) })
  }

  func living(_ table: String, _ now: Date) -> [(key: String, value: Item)] {
    (tables[table] ?? [:]).filter { ($0.value.expiresAt ?? .distantFuture) > now }
      .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

@Suite("Random operations")
struct RandomTests {
  @Test(
    "A store equals a dictionary of dictionaries, also after reopening",
    arguments: TestedPlace.all)
  func random(_ kind: TestedPlace) throws {
    var generator = Seeds.generator(for: "random work on \(kind)")
    try kind.withLocation { location in
      var runner = Runner(location, try location.open(), generator)
      for step in 0..<kind.randomStepCount {
        do {
          try runner.step()
          if step % 10 == 0 { try runner.compare() }
        } catch {
          Issue.record("step \(step): \(error)")
          return
        }
      }
      try runner.compare()
      try runner.store.close()
      generator = runner.generator
    }
  }

  private struct Runner {
    let location: Location
    var store: KeyValueStore
    var model = Model()
    var generator: SeededGenerator
    static let names = ["a", "", "../x", "é", "e\u{301}x"]

    init(_ location: Location, _ store: KeyValueStore, _ generator: SeededGenerator) {
      (self.location, self.store, self.generator) = (location, store, generator)
    }

    mutating func pick(_ count: Int) -> Int { .random(in: 0..<count, using: &generator) }
    mutating func key() -> String {
      let key = "\(pick(60))"
      return pick(8) == 0 ? "%" + key : key
    }
    mutating func value() -> StoredValue {
      switch pick(6) {
      case 0: .null
      case 1: .double(Double(pick(1000)) / 8)
      case 2: .string(String(repeating: "é%", count: pick(pick(30) == 0 ? 3000 : 20)))
      case 3: .array([.int(Int64(pick(9))), .bool(true), .date(location.clock.now)])
      case 4: .dictionary(["a": .data(Data([1])), "b": .int(-1)])
      default: .int(Int64(pick(1_000_000)))
      }
    }

    mutating func step() throws {
      let name = Self.names[pick(Self.names.count)]
      let now = location.clock.now
      switch pick(40) {
      case 0: location.clock.advance(TimeInterval(pick(40)))
      case 1:
        try store.dropTable(name)
        model.tables[name] = nil
      case 2, 3:
        try store.close()
        store = try location.open()
      case 4: try store.purgeExpired()
      case 5 where store.hasTable(name):
        try store.table(name).removeAll()
        model.tables[name] = [:]
      case 6 where store.hasTable(name):
        let prefix = "\(pick(10))"
        let count = model.living(name, now).count { $0.key.hasPrefix(prefix) }
        let deleted = try store.table(name).deleteAll(prefix: prefix)
        #expect(deleted == count)
        for key in (model.tables[name] ?? [:]).keys where key.hasPrefix(prefix) {
          model.tables[name]?[key] = nil
        }
      default: try batch(name)
      }
    }

    mutating func batch(_ name: String) throws {
      let table = try store.createTable(name)
      if model.tables[name] == nil { model.tables[name] = [:] }
      let (now, before) = (location.clock.now, model)
      let fails = pick(10) == 0
      let count = pick(5) == 0 ? 200 : pick(6)
      var (model, runner) = (model, self)
      do {
        try store.write { batch in
          for _ in 0..<count {
            let key = runner.key()
            if runner.pick(3) == 0 {
              let isThere = model.living(name, now).contains { $0.key == key }
              #expect(try batch.delete(key, from: table) == isThere)
              model.tables[name]?[key] = nil
            } else {
              let (value, life) = (runner.value(), runner.pick(4) == 0 ? runner.pick(30) + 1 : nil)
              try batch.put(value, for: key, in: table, expiresAfter: life.map { .seconds($0) })
              model.put(value, key, name, now, life)
              #expect(try batch.item(key, from: table)?.value == value)
            }
          }
          if fails { throw CancellationError() }
        }
      } catch is CancellationError {
        model = before
      }
      (self.model, generator) = (model, runner.generator)
    }

    mutating func compare() throws {
      let now = location.clock.now
      #expect(Set(store.tableNames()) == Set(model.tables.keys))
      for name in model.tables.keys {
        let table = try store.table(name)
        let wanted = model.living(name, now)
        let found = try table.all.items()
        #expect(found.map(\.key) == wanted.map(\.key))
        #expect(
          found.map {
            Model.Item(
              value: $0.value, createdAt: $0.createdAt, updatedAt: $0.updatedAt,
              expiresAt: $0.expiresAt)
          } == wanted.map(\.value))
        #expect(try table.count() == wanted.count)
        #expect(try table.all.reversed().keys() == wanted.map(\.key).reversed())
        let key = key()
        #expect(try table.item(key)?.value == wanted.first { $0.key == key }?.value.value)
        for (key, item) in wanted {
          guard case .string(let text) = item.value else { continue }
          let bytes = try table.withBytes(of: key) { [UInt8](copying: $0) }
          #expect(bytes == Array(text.utf8))
        }
        let (from, to) = ("\(pick(60))", "\(pick(60))")
        #expect(
          try table.range(from: from, to: to).count()
            == wanted.count { $0.key >= from && $0.key < to })
      }
    }
  }
}
