import Files
import PostgreSQLBackend
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// All that the entries of a history say: the store that they lead to.
struct HistoryWalk {
  private(set) var image = StoreImage()
  private(set) var commits: [Commit] = []

  /// Follows the entries from the state at the beginning of the history, and expects that each of
  /// them has the state that the entries before it have left.
  init(_ backend: any StoreBackend, from image: StoreImage = StoreImage()) throws {
    self.image = image
    let start = try #require(try backend.historyStart())
    try backend.forEachHistoryEntry(after: start) { entry in
      commits.append(entry.commit)
      add(entry)
      return .next
    }
    // Commits that change nothing have entries, too.
    let numbers = try Self.numbers(backend)
    #expect(numbers == Array(start + 1..<backend.lastCommitNumber + 1))
    let table = try backend.orderedTable(OrderedTableName("CommitHistory", kind: .data))
    let range = KeyRange(from: [1], to: [2])
    #expect(try backend.keyCount(in: table, range) == numbers.count)
  }

  private mutating func add(_ entry: HistoryEntry) {
    for table in entry.tables {
      for record in table.records {
        #expect(record.before == image.tables[table.name]?[record.rowID], "\(entry.commit.number)")
        #expect(record.before != record.after)
        image.set(table.name, record.rowID, record.after)
      }
    }
    for change in entry.buffers {
      #expect(change.before == image.names[change.name], "\(entry.commit.number)")
      image.set(change.name, change.after)
    }
    for table in entry.orderedTables {
      if table.isCleared {
        for key in image.keys["\(table.name)"]?.keys.map({ $0 }) ?? [] {
          image.set(key, to: nil, in: table.name)
        }
      }
      for change in table.keys {
        if table.name.kind == .data {
          #expect(change.before == image.keys["\(table.name)"]?[change.key])
        }
        image.set(change.key, to: change.after, in: table.name)
      }
    }
  }

  /// The commits that have an entry, empty or not.
  static func numbers(_ backend: any StoreBackend) throws -> [UInt64] {
    let table = try backend.orderedTable(OrderedTableName("CommitHistory", kind: .data))
    var numbers: [UInt64] = []
    let entries = KeyRange(from: [1], to: [2])
    _ = try backend.scanKeys(of: table, entries, isReversed: false) { key, _ in
      numbers.append([UInt8](copying: key).dropFirst().reduce(0) { $0 << 8 | UInt64($1) })
      return .next
    }
    return numbers
  }

  /// The content of a store without its history.
  static func content(_ backend: any StoreBackend) throws -> StoreImage {
    var image = try StoreImage(of: backend)
    let history = OrderedTableName("CommitHistory", kind: .data)
    for key in image.keys["\(history)"]?.keys.map({ $0 }) ?? [] {
      image.set(key, to: nil, in: history)
    }
    return image
  }

  /// Expects that the entries lead from a state to that of the store.
  static func check(_ backend: any StoreBackend, from image: StoreImage = StoreImage()) throws {
    let walk = try HistoryWalk(backend, from: image)
    #expect(walk.image.differences(from: try content(backend)) == [])
  }
}

/// Random changes of a few rows, buffers and keys, so that machines often change the same.
struct RandomChanges {
  private var random: SeededGenerator
  private let backend: any StoreBackend
  private let tables: [TableID]
  private let data: OrderedTableID
  private let index: OrderedTableID

  init(_ backend: any StoreBackend, _ random: SeededGenerator) throws {
    (self.backend, self.random) = (backend, random)
    tables = try ["Song", "Album"].map { try backend.table(named: $0) }
    data = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    index = try backend.orderedTable(OrderedTableName("Titles", kind: .index))
  }

  private mutating func bytes(_ most: Int) -> [UInt8] {
    (0..<Int.random(in: 0...most, using: &random)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
  }

  private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

  mutating func next() -> ChangeSet {
    var changes = ChangeSetBuilder()
    for table in tables where !chance(3) {
      for row in UInt32(2)...9 where chance(3) {
        if chance(4) {
          changes.delete(row, in: table)
        } else {
          // Some records are as they were.
          changes.update(row, in: table, chance(4) ? [1] : bytes(chance(10) ? 3000 : 60))
        }
      }
    }
    for name in ["Favorite", "Order"] where chance(4) {
      changes.set(name, chance(3) ? nil : bytes(20))
    }
    for table in [data, index] {
      if chance(12) { changes.clear(table) }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let key = chance(9) ? Array(repeating: UInt8(7), count: 1500) + bytes(1) : bytes(1)
        changes.set(key, to: chance(3) ? nil : bytes(12), in: table)
      }
    }
    return changes.changeSet
  }
}
