import StoredObjectsCore

/// An object of a chain.
protocol DeepLink: StoredObject {
  func hold(_ other: Self?)
}

final class ReferenceLink: StoredObject, DeepLink {
  @Content var other: ReferenceLink?

  func hold(_ other: ReferenceLink?) { self.other = other }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(other) }
  override func readContent(from buffer: inout DataBuffer) throws {
    other = try buffer.readObject(of: ReferenceLink.self)
  }
}

final class ArrayLink: StoredObject, DeepLink {
  @Content var others: [ArrayLink] = []

  func hold(_ other: ArrayLink?) { others = other.map { [$0] } ?? [] }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(others) }
  override func readContent(from buffer: inout DataBuffer) throws {
    others = try buffer.readObjects(of: ArrayLink.self)
  }
}

final class ListLink: StoredObject, DeepLink {
  @Content var others: ObjectList<ListLink> = []

  func hold(_ other: ListLink?) { others = other.map { [$0] } ?? [] }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(others) }
  override func readContent(from buffer: inout DataBuffer) throws {
    others = try buffer.readList(of: ListLink.self)
  }
}

final class SetLink: StoredObject, DeepLink {
  @Content var others: Set<SetLink> = []

  func hold(_ other: SetLink?) { others = other.map { [$0] } ?? [] }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.writeValue(others, as: Set<SetLink>.self)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    others = try buffer.readValue(of: Set<SetLink>.self)
  }
}

/// Says by itself what it reads and changes, without `Content`.
class PlainBase: StoredObject {
  fileprivate final var next: PlainBase?
}

final class PlainLink: PlainBase, DeepLink {
  func hold(_ other: PlainLink?) {
    willUpdate()
    next = other
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.writeAny(next)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    next = try buffer.readAnyObject() as? PlainLink
  }
}

/// Deletes the next one by a rule, and the last one of its own by hand.
final class RuledLink: StoredObject, DeepLink {
  @Content var other: RuledLink?
  @Content var before: RuledLink?

  override class var relationships: [Relationship] {
    [Relationship(\RuledLink.other, deleteRule: .cascade, inverse: \RuledLink.before)]
  }
  func hold(_ other: RuledLink?) { self.other = other }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(other)
    buffer.write(before)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    other = try buffer.readObject(of: RuledLink.self)
    before = try buffer.readObject(of: RuledLink.self)
  }
}

final class HandRuledLink: StoredObject, DeepLink {
  @Content var other: HandRuledLink?

  func hold(_ other: HandRuledLink?) { self.other = other }
  override func prepareForDelete() {
    if let other { store?.delete(other) }
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(other) }
  override func readContent(from buffer: inout DataBuffer) throws {
    other = try buffer.readObject(of: HandRuledLink.self)
  }
}

/// Has one of each of the kinds of properties that hold on to what they are given, in turn.
final class OddLink: StoredObject, DeepLink {
  enum Choice {
    case nothing
    indirect case held(OddLink, Choice)
  }
  struct Pair {
    let number: Int
    let first: OddLink?
  }
  struct Tree {
    var trees: [Tree] = []
    var number = 1
  }
  final class Holder {
    var held: OddLink?
    init(_ held: OddLink?) { self.held = held }
  }

  var choice = Choice.nothing
  var pair = Pair(number: 1, first: nil)
  var tuple: (Int, OddLink?) = (1, nil)
  var holder = Holder(nil)
  var dictionary: [String: OddLink] = [:]
  var whatever: Any = 1
  var tree = Tree()
  var closure: () -> OddLink? = { nil }
  var existential: (any DeepLink)?
  var optional: [OddLink]?
  lazy var late: OddLink? = nil
  weak var weakly: OddLink?
  unowned(unsafe) var unsafely: OddLink?
  var turn = 0

  // The length is a case of its own, so that each kind has its turn.
  func hold(_ other: OddLink?) {
    turn = (other?.turn ?? 0) + 1
    (weakly, unsafe unsafely) = (other, other)
    guard let other else { return }
    switch turn % 10 {
    case 0: choice = .held(other, .nothing)
    case 1: pair = Pair(number: 2, first: other)
    case 2: tuple = (2, other)
    case 3: holder = Holder(other)
    case 4: dictionary["a"] = other
    case 5: whatever = other
    case 6: closure = { other }
    case 7: existential = other
    case 8: optional = [other]
    default: late = other
    }
  }
}
