import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("Sorted rows by index")
struct RowTableTests {
  private func key(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }

  @Test("A table of rows equals a sorted array, however it grows and shrinks")
  func random() {
    var random = Seeds.generator(for: "RowTableTests")
    var table = RowTable()
    var model: [RowRank] = []
    for step in 0..<12_000 {
      let isGrowing = step / 3_000 % 2 == 0
      if Int.random(in: 0..<10, using: &random) < (isGrowing ? 8 : 2) || model.isEmpty {
        let rank = RowRank(
          key: key(Int.random(in: 0..<50, using: &random)), tie: random.next() % 1_000_000)
        if table.contains(rank.tie) { continue }
        table.insert(rank)
        model.insert(rank, at: model.firstIndex { rank < $0 } ?? model.count)
      } else {
        let rank = model.remove(at: Int.random(in: 0..<model.count, using: &random))
        table.remove(rank.tie)
        #expect(!table.contains(rank.tie))
      }
      guard step % 7 == 0, let rank = model.randomElement(using: &random) else { continue }
      table.prepareIndices()
      let index = model.firstIndex(of: rank)
      #expect(table.count == model.count && table.index(of: rank.tie) == index)
      #expect(table.rank(of: rank.tie) == rank)
      if let index { #expect(table.rows.tie(at: index) == rank.tie) }
    }
    table.prepareIndices()
    #expect((0..<table.count).map { table.rows.tie(at: $0) } == model.map(\.tie))
    #expect(RowTable(sorted: model).rows.chunks.flatMap(\.ties) == model.map(\.tie))
  }

  @Test("A copy of the rows does not change")
  func copies() {
    var table = RowTable(sorted: (0..<5_000).map { RowRank(key: [], tie: $0) })
    let copy = table.rows
    for tie in stride(from: UInt64(0), to: 5_000, by: 2) { table.remove(tie) }
    #expect((0..<5_000).map { copy.tie(at: $0) } == Array(0..<5_000))
  }

  @Test("As few rows as possible move, and the others are updated in place")
  func moves() {
    func move(_ key: UInt32, _ from: Int, _ to: Int) -> RowsChange.Move {
      let key = ObjectKey(classID: 0, rowID: key)
      let places = [from, to].map { ResultPlace(index: $0, section: 0, item: $0) }
      return .init(key: key, from: places[0], to: places[1], isInSection: true)
    }
    var change = RowsChange()
    // Five rows, all with new keys; the first one becomes the last.
    change.setMoves([move(0, 0, 4), move(1, 1, 0), move(2, 2, 1), move(3, 3, 2), move(4, 4, 3)])
    #expect(change.moved.map(\.key.rowID) == [0])
    #expect(change.updated.count == 4)
  }
}
