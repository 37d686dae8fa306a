import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Sets of visited rows")
struct RowSetTests {
  @Test("A set of rows agrees with a Set, whatever is inserted")
  func model() {
    var random = Seeds.generator(for: "row set")
    for range: UInt32 in [70, 5000, 100_000, 3_000_000] {
      var (rows, model) = (RowSet(), Set<UInt32>())
      for _ in 0..<500 {
        let rowID = UInt32.random(in: 0..<range, using: &random)
        rows.insert(rowID)
        model.insert(rowID)
        let other = UInt32.random(in: 0...range, using: &random)
        #expect(rows.contains(rowID))
        #expect(rows.contains(other) == model.contains(other))
      }
      expectSame(rows, model)
      for row in [0, 1, range / 2, range, .max] { expectSamePages(rows, model, after: row) }
      for _ in 0..<200 {
        let start = UInt32.random(in: 0..<range, using: &random)
        #expect(rows.first(after: start) == model.filter { $0 > start }.min())
      }
    }
  }

  /// Compares counts, and pages of rows.
  private func expectSamePages(_ rows: RowSet, _ model: Set<UInt32>, after row: UInt32) {
    let sorted = model.filter { $0 > 0 }.sorted()
    #expect(rows.count(upTo: row) == sorted.count { $0 <= row })
    let later = sorted.filter { $0 > row }
    for offset in [0, 1, 7, later.count - 1, later.count, later.count + 1, .max] where offset >= 0 {
      for limit in [0, 1, 100, .max] {
        let page = rows.rows(after: row, skipping: offset, atMost: limit)
        #expect(page == Array(later.dropFirst(offset).prefix(limit)))
      }
    }
  }

  @Test("Pages of rows are right in pages, runs and gaps")
  func pages() {
    for ranges in [[2..<3], [0..<70], [5..<64, 64..<129], [4000..<9000, 50_000..<50_300, 7..<9]] {
      let all = ranges.flatMap { $0.map { UInt32($0) } }
      let rows = RowSet(all)
      for row in [0, 2, 63, 64, 128, 4096, 8999, 50_100, 60_000] as [UInt32] {
        expectSamePages(rows, Set(all), after: row)
      }
    }
  }

  /// Walks the whole set.
  private func expectSame(_ rows: RowSet, _ model: Set<UInt32>) {
    var walked: [UInt32] = rows.contains(0) ? [0] : []
    while let next = rows.first(after: walked.last ?? 0) { walked.append(next) }
    #expect(walked == model.sorted())
  }

  @Test("An empty set holds nothing")
  func empty() {
    #expect(RowSet().first(after: 0) == nil)
    #expect(!RowSet().contains(0))
    #expect(!RowSet().contains(.max))
  }

  @Test(
    "The edges of words and pages are found", arguments: [1, 63, 64, 4095, 4096, 8192] as [UInt32])
  func edges(rowID: UInt32) {
    var rows = RowSet()
    rows.insert(rowID)
    #expect(rows.contains(rowID))
    #expect(!rows.contains(rowID - 1))
    #expect(!rows.contains(rowID + 1))
    #expect(rows.first(after: 0) == rowID)
    #expect(rows.first(after: rowID - 1) == rowID)
    #expect(rows.first(after: rowID) == nil)
  }

  @Test("The last possible row can be inserted")
  func last() {
    var rows = RowSet()
    rows.insert(.max)
    #expect(rows.contains(.max))
    #expect(!rows.contains(.max - 1))
    #expect(rows.first(after: .max - 1) == .max)
    #expect(rows.first(after: 0) == .max)
    #expect(rows.first(after: .max) == nil)
  }
}
