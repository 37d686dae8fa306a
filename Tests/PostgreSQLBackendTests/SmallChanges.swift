import StoredObjectsCore
import StoredObjectsTestSupport

/// Random changes of a few rows and keys, the same ones for the same seed.
struct SmallChanges {
  private let tables: [TableID]
  private let ordered: [OrderedTableID]

  init(_ backend: any StoreBackend) throws {
    tables = try ["Song", "Album"].map { try backend.table(named: $0) }
    ordered = try [
      backend.orderedTable(OrderedTableName("Words", kind: .data)),
      backend.orderedTable(OrderedTableName("Titles", kind: .index)),
    ]
  }

  func next(_ seed: UInt64) -> ChangeSet {
    var random = SeededGenerator(seed: seed)
    func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    var changes = ChangeSetBuilder()
    for table in tables where number(2) == 0 {
      for row in UInt32(2)...7 where number(4) == 0 {
        switch number(8) {
        case 0: changes.delete(row, in: table)
        case 1: changes.insert(row, in: table, [UInt8(number(256))])
        default: changes.update(row, in: table, [UInt8(number(256))])
        }
      }
    }
    for table in ordered where number(3) == 0 {
      for _ in 0...number(3) {
        changes.set([UInt8(number(6))], to: number(3) == 0 ? nil : [UInt8(number(9))], in: table)
      }
    }
    if number(20) == 0 { changes.set("Order", [UInt8(number(9))]) }
    return changes.changeSet
  }

  /// Returns a basis of a few rows, keys and ranges.
  func basis(_ seed: UInt64, upTo number: UInt64) -> CommitBasis {
    var random = SeededGenerator(seed: seed)
    var basis = CommitBasis(upTo: number)
    for table in tables where Int.random(in: 0..<4, using: &random) == 0 {
      basis.rows.append((table, .random(in: 2...9, using: &random)))
    }
    for table in ordered where Int.random(in: 0..<4, using: &random) == 0 {
      let byte = UInt8.random(in: 0..<6, using: &random)
      basis.keys.append((table, Bool.random(using: &random) ? .key([byte]) : .prefix([byte])))
    }
    return basis
  }
}
