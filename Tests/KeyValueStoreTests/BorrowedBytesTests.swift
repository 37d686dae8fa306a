import Files
import Foundation
import KeyValueStore
import StoredObjectsCore
import TestedBackends
import Testing

@Suite("Borrowed bytes")
struct BorrowedBytesTests {
  private struct Stop: Error, Equatable {}

  private func bytes(of key: String, in table: KeyValueTable) throws -> [UInt8]? {
    try table.withBytes(of: key) { [UInt8](copying: $0) }
  }

  /// Returns the keys and bytes that a selection lends.
  private func lent(_ selection: KeyValueSelection) throws -> [(key: String, bytes: [UInt8])] {
    var found: [(key: String, bytes: [UInt8])] = []
    try selection.forEachBytes { found.append((String(copying: $0), [UInt8](copying: $1))) }
    return found
  }

  @Test("The bytes of data and of text are lent, and of nothing else", arguments: TestedPlace.all)
  func values(_ kind: TestedPlace) throws {
    try kind.withTable { table, clock in
      let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
      try table.put(large, for: "large")
      try table.put(Data(), for: "empty")
      try table.put("Grüße", for: "text")
      try table.put("", for: "")
      try table.put(Data([1]), for: "goes", expiresAfter: .seconds(5))
      try table.put(7, for: "number")
      #expect(try bytes(of: "large", in: table) == Array(large))
      #expect(try bytes(of: "empty", in: table) == [])
      #expect(try bytes(of: "text", in: table) == Array("Grüße".utf8))
      #expect(try bytes(of: "", in: table) == [])
      #expect(try bytes(of: "goes", in: table) == [1])
      #expect(try bytes(of: "none", in: table) == nil)
      clock.advance(5)
      #expect(try bytes(of: "goes", in: table) == nil)
      let error = #expect(throws: StoreError.self) { try bytes(of: "number", in: table) }
      #expect(error?.code == .typeMismatch && error?.location.key == "number")
      #expect(error?.location.table == "table")
    }
  }

  @Test("A closure's error is thrown as it is, and ends a walk", arguments: TestedPlace.all)
  func errors(_ kind: TestedPlace) throws {
    try kind.withTable { table, _ in
      try table.put(["a": "1", "b": "2", "c": "3"])
      #expect(throws: Stop()) { try table.withBytes(of: "a") { _ in throw Stop() } }
      var seen: [String] = []
      #expect(throws: Stop()) {
        try table.all.forEachBytes { key, _ in
          seen.append(String(copying: key))
          if seen.count == 2 { throw Stop() }
        }
      }
      #expect(seen == ["a", "b"])
      try table.store.dropTable(table.name)
      #expect(code { _ = try bytes(of: "a", in: table) } == "noSuchTable")
      #expect(code { _ = try lent(table.all) } == "noSuchTable")
    }
  }

  @Test("A selection lends the keys and bytes of its items", arguments: TestedPlace.all)
  func selections(_ kind: TestedPlace) throws {
    try kind.withTable { table, clock in
      try table.store.write { batch in
        for number in 100..<700 {
          // Some expire below, and would shift an offset if they counted.
          let life: Duration? = number % 50 == 0 ? .seconds(1) : nil
          let text = String(repeating: "é", count: number % 90)
          try batch.put(text, for: "\(number)", in: table, expiresAfter: life)
        }
      }
      clock.advance(2)
      let all = table.all
      let selections = [
        all, all.reversed(), all.offset(3).limit(20), all.reversed().offset(60).limit(1),
        all.limit(0), all.offset(10_000), table.prefix("3"), table.range(from: "250", to: "260"),
        all.after("650"), all.filter { $0.key.hasSuffix("7") }.offset(2).limit(5),
        all.sorted { $0.value.text.utf8.count > $1.value.text.utf8.count }.limit(30),
      ]
      for selection in selections {
        let items = try selection.items()
        let found = try lent(selection)
        #expect(found.map(\.key) == items.map(\.key))
        #expect(found.map(\.bytes) == items.map { Array($0.value.text.utf8) })
      }
      #expect(code { _ = try lent(all.limit(-1)) } == "invalidArgument")
      #expect(code { _ = try lent(all.offset(-1)) } == "invalidArgument")
    }
  }

  @Test("A value of another type ends a walk only if it is reached", arguments: TestedPlace.all)
  func otherTypes(_ kind: TestedPlace) throws {
    try kind.withTable { table, _ in
      try table.put(Data([1]), for: "a")
      try table.put(2, for: "b")
      try table.put(Data([3]), for: "c")
      #expect(try lent(table.all.limit(1)).map(\.key) == ["a"])
      #expect(try lent(table.all.offset(2)).map(\.key) == ["c"])
      for selection in [table.all, table.all.sorted { $0.key < $1.key }] {
        let error = #expect(throws: StoreError.self) { try lent(selection) }
        #expect(error?.code == .typeMismatch && error?.location.key == "b")
      }
    }
  }
}

extension StoredValue {
  fileprivate var text: String { if case .string(let text) = self { text } else { "" } }
}
