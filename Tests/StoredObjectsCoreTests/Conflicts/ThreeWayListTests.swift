import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

private func merge(_ base: String, _ mine: String, _ theirs: String) -> String {
  String(ThreeWayList.merge(base: Array(base), mine: Array(mine), theirs: Array(theirs)))
}

@Suite("Merges of three versions of a list")
struct ThreeWayListTests {
  @Test(
    "Insertions of both sides are kept, theirs first, and removals of either side",
    arguments: [
      ("abc", "abXc", "aYbc", "aYbXc"), ("abc", "abcX", "abcY", "abcYX"),
      ("abc", "ac", "ab", "a"), ("abc", "bc", "abcY", "bcY"), ("", "x", "y", "yx"),
      // Both have inserted the same.
      ("abc", "aXbc", "aXbcY", "aXbcY"), ("ab", "", "aXb", "X"),
    ])
  func insertions(_ base: String, _ mine: String, _ theirs: String, _ merged: String) {
    #expect(merge(base, mine, theirs) == merged)
  }

  @Test(
    "A moved element is there once: at their position if both have moved it",
    arguments: [
      ("abcd", "bcda", "abcdX", "bcdXa"), ("abcd", "bcda", "bacd", "bacd"),
      // Deleted on one side.
      ("abcd", "bcda", "bcd", "bcd"), ("abcd", "bcd", "bcda", "bcd"),
    ])
  func moves(_ base: String, _ mine: String, _ theirs: String, _ merged: String) {
    #expect(merge(base, mine, theirs) == merged)
  }

  @Test(
    "No repeat is lost or doubled",
    arguments: [
      ("aaa", "aa", "aaa", "aa"), ("aaa", "aaaa", "aaX", "aaXa"), ("abab", "abb", "ababa", "abba"),
      ("aa", "aaa", "aaa", "aaa"),
    ])
  func repeats(_ base: String, _ mine: String, _ theirs: String, _ merged: String) {
    #expect(merge(base, mine, theirs).sorted() == merged.sorted())
  }

  @Test("The rules hold for random edits, moves and repeats")
  func laws() {
    var random = Seeds.generator(for: "ThreeWayListTests")
    for _ in 0..<2000 {
      let base = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
        Int.random(in: 0..<6, using: &random)
      }
      let mine = edited(base, &random, inserting: 0..<9)
      let theirs = edited(base, &random, inserting: 0..<9)
      #expect(ThreeWayList.merge(base: base, mine: base, theirs: theirs) == theirs)
      #expect(ThreeWayList.merge(base: base, mine: mine, theirs: base) == mine)
      #expect(ThreeWayList.merge(base: base, mine: mine, theirs: mine) == mine)
      let merged = ThreeWayList.merge(base: base, mine: mine, theirs: theirs)
      for value in 0..<9 {
        let (b, m, t) = (base.count(of: value), mine.count(of: value), theirs.count(of: value))
        let found = merged.count(of: value)
        // A change of one side only is kept.
        #expect(found >= m + t - max(b, m, t), "\(base) \(mine) \(theirs) \(merged)")
        #expect(found <= max(m, t) + max(0, min(m, t) - b), "\(base) \(mine) \(theirs) \(merged)")
      }
    }
  }

  @Test("Of distinct elements, those that both have kept or one has added are there")
  func distinctElements() {
    var random = Seeds.generator(for: "ThreeWayListTests.distinctElements")
    for _ in 0..<2000 {
      let base = Array((0..<Int.random(in: 0..<15, using: &random)).shuffled(using: &random))
      let mine = edited(base, &random, inserting: 100..<104, isDistinct: true)
      let theirs = edited(base, &random, inserting: 200..<204, isDistinct: true)
      let merged = ThreeWayList.merge(base: base, mine: mine, theirs: theirs)
      #expect(Set(merged).count == merged.count, "\(base) \(mine) \(theirs) \(merged)")
      let expected = (base + mine + theirs).filter { element in
        base.contains(element) ? mine.contains(element) && theirs.contains(element) : true
      }
      #expect(Set(merged) == Set(expected), "\(base) \(mine) \(theirs) \(merged)")
    }
  }

  @Test("If one side has only removed elements, the order of the other is kept")
  func order() {
    var random = Seeds.generator(for: "ThreeWayListTests.order")
    for _ in 0..<1000 {
      let base = Array((0..<15).shuffled(using: &random))
      let mine = base.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
      let theirs = edited(base, &random, inserting: 200..<204, isDistinct: true)
      let merged = ThreeWayList.merge(base: base, mine: mine, theirs: theirs)
      #expect(merged == theirs.filter { $0 >= 200 || mine.contains($0) })
    }
  }

  private func edited(
    _ base: [Int], _ random: inout SeededGenerator, inserting values: Range<Int>,
    isDistinct: Bool = false
  ) -> [Int] {
    var list = base
    var left = values.shuffled(using: &random)
    for _ in 0..<Int.random(in: 0..<5, using: &random) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        guard let value = isDistinct ? left.popLast() : left.randomElement(using: &random) else {
          continue
        }
        list.insert(value, at: Int.random(in: 0...list.count, using: &random))
      case 1 where !list.isEmpty: list.remove(at: Int.random(in: list.indices, using: &random))
      case 2 where !list.isEmpty:
        let element = list.remove(at: Int.random(in: list.indices, using: &random))
        list.insert(element, at: Int.random(in: 0...list.count, using: &random))
      default: break
      }
    }
    return list
  }
}

extension [Int] {
  fileprivate func count(of value: Int) -> Int { count { $0 == value } }
}
