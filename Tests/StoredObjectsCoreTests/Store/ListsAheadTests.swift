import Testing

@testable import StoredObjectsCore

@Suite("Predicting which list is walked next")
struct ListsAheadTests {
  private func ahead(_ lists: [[UInt32]]) -> ListsAhead {
    var ahead = ListsAhead()
    for list in lists { ahead.note(list) }
    return ahead
  }

  @Test("A walk along one list predicts no other")
  func one() {
    let lists: [[UInt32]] = [[2, 3], [4, 5], [6, 7]]
    var ahead = ahead(lists)
    for _ in 0..<3 { #expect(ahead.rows(after: lists[1], atMost: 9) == []) }
    #expect(ahead.rows(after: [8, 9], atMost: 9) == [], "a list that was not read")
  }

  @Test("A loop from one list to the next predicts the following ones, up to a limit")
  func several() {
    let lists: [[UInt32]] = [[2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    var ahead = ahead(lists)
    #expect(ahead.rows(after: lists[0], atMost: 9) == [])
    #expect(ahead.rows(after: lists[1], atMost: 3) == [6, 7, 8])
    // The fourth list was predicted in part, and then needs a request of its own.
    #expect(ahead.rows(after: lists[3], atMost: 9) == [10, 11])
  }

  @Test("A jump to another list ends the prediction")
  func jump() {
    let lists: [[UInt32]] = [[2, 3], [4, 5], [6, 7], [8, 9]]
    var ahead = ahead(lists)
    _ = ahead.rows(after: lists[0], atMost: 9)
    #expect(ahead.rows(after: lists[1], atMost: 1) == [6])
    #expect(ahead.rows(after: lists[0], atMost: 9) == [])
    #expect(ahead.rows(after: lists[3], atMost: 9) == [])
  }

  @Test("A loop over thousands of lists is predicted to its end")
  func many() {
    let lists = (1...20_000).map { [UInt32(2 * $0), UInt32(2 * $0 + 1)] }
    var ahead = ListsAhead()
    var missing = 0
    var known: Set<UInt32> = []
    // The owners are read in batches, as a cursor does.
    for start in stride(from: 0, to: lists.count, by: 100) {
      for list in lists[start..<start + 100] { ahead.note(list) }
      for list in lists[start..<start + 100] where !known.isSuperset(of: list) {
        missing += 1
        known = Set(list + ahead.rows(after: list, atMost: 1000))
      }
    }
    #expect((200...400).contains(missing), "\(missing)")
  }

  @Test("Empty lists and very long ones are left out")
  func leftOut() {
    let long = Array(2...UInt32(5000))
    var ahead = ahead([[2], [], long, [3], [4]])
    #expect(ahead.rows(after: [2], atMost: 9) == [])
    #expect(ahead.rows(after: [3], atMost: 9) == [4])
    #expect(ahead.rows(after: long, atMost: 9) == [])
  }
}
