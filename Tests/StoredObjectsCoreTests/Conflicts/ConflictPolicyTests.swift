import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// A class whose properties are declared, which adds up what both sides have added to its score.
private final class Card: StoredObject {
  @Content var title = ""
  @Content var score = 0
  @Content var parts: [Card] = []
  @Content var tags: Set<String> = []

  override class var layout: ClassLayout? {
    ClassLayout(
      Card.self,
      [
        StoredProperty("title", String.self), StoredProperty("score", Int.self),
        StoredProperty("parts", [Card].self), StoredProperty("tags", Set<String>.self),
      ])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(score)
    buffer.write(parts)
    buffer.write(tags)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    score = try buffer.read(Int.self)
    parts = try buffer.readObjects(of: Card.self)
    tags = try buffer.read(Set<String>.self)
  }
  override func dissolveAllRelationships() { parts = [] }

  override func merge(base: StoredObject, theirs: StoredObject) -> Bool {
    guard let base = base as? Card, let theirs = theirs as? Card else { return false }
    score = theirs.score + score - base.score
    // A title is nobody's to guess.
    return title == theirs.title || title == base.title || theirs.title == base.title
  }
}

/// Two stores on a backend, each with the same cards.
private struct Sides {
  let backend: MemoryBackend
  let mine: Store
  let theirs: Store
  let own: [Card]
  let others: [Card]

  init(_ policy: ConflictPolicy, count: Int = 1, _ fill: ([Card]) -> Void = { _ in }) throws {
    backend = try MemoryBackend()
    mine = Store(backend: backend, configuration: .init(conflictPolicy: policy))
    theirs = Store(backend: backend, configuration: .init(conflictPolicy: policy))
    try mine.register(Card.self)
    try theirs.register(Card.self)
    own = (0..<count).map { _ in Card() }
    for card in own { mine.insert(card) }
    fill(own)
    try mine.saveChanges()
    others = try theirs.allObjects(of: Card.self)
    for card in others { _ = card.title }
  }

  func saved() throws -> [Card] {
    let store = Store(backend: backend)
    try store.register(Card.self)
    let cards = try store.allObjects(of: Card.self)
    withExtendedLifetime(store) { for card in cards { _ = card.parts } }
    return cards
  }
}

@Suite("Policies for conflicts")
struct ConflictPolicyTests {
  @Test("Without a policy, a save throws")
  func error() throws {
    let sides = try Sides(.error)
    sides.others[0].title = "theirs"
    try sides.theirs.saveChanges()
    sides.own[0].score = 1
    let error = #expect(throws: StoreError.self) { try sides.mine.saveChanges() }
    #expect(error?.code == .conflict)
  }

  @Test("Theirs and mine take a whole object", arguments: [ConflictPolicy.theirs, .mine])
  func wholeObjects(_ policy: ConflictPolicy) throws {
    let sides = try Sides(policy, count: 2)
    sides.others[0].title = "theirs"
    try sides.theirs.saveChanges()
    sides.own[0].score = 1
    sides.own[1].score = 2
    try sides.mine.saveChanges()
    let saved = try sides.saved()
    #expect(saved[0].title == (policy == .theirs ? "theirs" : ""))
    #expect(saved[0].score == (policy == .theirs ? 0 : 1))
    // It was in no conflict.
    #expect(saved[1].score == 2)
    #expect(sides.own[0].title == saved[0].title && sides.own[0].score == saved[0].score)
  }

  @Test("A merge keeps the changes of both sides, in properties, lists and sets")
  func merges() throws {
    let sides = try Sides(.merge, count: 5) { cards in
      cards[0].parts = [cards[1], cards[2], cards[1]]
      cards[0].tags = ["a", "b"]
    }
    let (own, others) = (sides.own, sides.others)
    others[0].title = "theirs"
    others[0].parts.insert(others[3], at: 1)
    others[0].tags = ["a", "b", "c"]
    try sides.theirs.saveChanges()
    own[0].score = 7
    own[0].parts.remove(at: 2)
    own[0].parts.append(own[4])
    own[0].tags = ["b", "d"]
    try sides.mine.saveChanges()
    #expect(own[0].title == "theirs" && own[0].score == 7)
    #expect(own[0].parts == [own[1], own[3], own[2], own[4]])
    #expect(own[0].tags == ["b", "c", "d"])
    let saved = try sides.saved()
    #expect(saved[0].title == "theirs" && saved[0].score == 7)
    #expect(saved[0].parts.map(\.rowID) == own[0].parts.map(\.rowID))
    #expect(saved[0].tags == own[0].tags)
  }

  @Test("A property that both have changed is decided by the class, or is a conflict that names it")
  func undecided() throws {
    let sides = try Sides(.merge)
    sides.others[0].score = 10
    try sides.theirs.saveChanges()
    sides.own[0].score = 1
    try sides.mine.saveChanges()
    #expect(try sides.saved()[0].score == 11)
    sides.theirs.mergeChanges()
    sides.others[0].title = "theirs"
    try sides.theirs.saveChanges()
    sides.own[0].title = "mine"
    let error = #expect(throws: StoreError.self) { try sides.mine.saveChanges() }
    #expect(error?.code == .conflict)
    #expect(error?.message.contains("title") == true)
    #expect(sides.own[0].title == "mine")
    sides.mine.keepConflictingChanges()
    try sides.mine.saveChanges()
    #expect(try sides.saved()[0].title == "mine")
  }

  @Test("A deletion against a change is a conflict", arguments: [ConflictPolicy.theirs, .merge])
  func deletions(_ policy: ConflictPolicy) throws {
    let sides = try Sides(policy)
    sides.theirs.delete(sides.others[0])
    try sides.theirs.saveChanges()
    sides.own[0].score = 1
    let error = #expect(throws: StoreError.self) { try sides.mine.saveChanges() }
    #expect(error?.code == .conflict)
  }

  @Test("After random edits of lists and scores by two stores, no change of either is lost")
  func randomEdits() throws {
    var random = Seeds.generator(for: "ConflictPolicyTests")
    for _ in 0..<20 {
      let sides = try Sides(.merge, count: 6) { $0[0].parts = Array($0[1..<4]) }
      var score = 0
      for _ in 0..<40 {
        let isOwn = Bool.random(using: &random)
        let (store, cards) = isOwn ? (sides.mine, sides.own) : (sides.theirs, sides.others)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          // Equal values would be one change.
          cards[0].score += isOwn ? 1 : 1000
          score += isOwn ? 1 : 1000
        case 1:
          let index = Int.random(in: 0...cards[0].parts.count, using: &random)
          cards[0].parts.insert(cards.randomElement(using: &random) ?? cards[1], at: index)
        case 2 where !cards[0].parts.isEmpty:
          cards[0].parts.remove(at: Int.random(in: cards[0].parts.indices, using: &random))
        case 3: try store.saveChanges()
        default: store.mergeChanges()
        }
      }
      try sides.mine.saveChanges()
      try sides.theirs.saveChanges()
      sides.mine.mergeChanges()
      sides.theirs.mergeChanges()
      #expect(try sides.saved()[0].score == score)
      #expect(sides.own[0].score == score)
      #expect(sides.own[0].parts.map(\.rowID) == sides.others[0].parts.map(\.rowID))
    }
  }
}
