import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import Testing

private final class Counter: Sendable {
  private let value = Mutex(0)
  var count: Int {
    get { value.withLock(\.self) }
    set { value.withLock { $0 = newValue } }
  }
}

private final class Member: StoredObject {
  /// Counts the records that are read.
  @TaskLocal static var counter: Counter?

  @Content var number: Int64 = 0
  @Content var email: String?
  @Content var first = ""
  @Content var last = ""

  convenience init(_ number: Int64, _ email: String? = nil, _ first: String = "") {
    self.init()
    (self.number, self.email, self.first, last) = (number, email, first, "\(number)")
  }
  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("number", \Member.number, isUnique: true),
      AttributeIndex("email", \Member.email, isUnique: true),
      AttributeIndex("name", \Member.first, \Member.last, isUnique: true),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(email)
    buffer.write(first)
    buffer.write(last)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    Member.counter?.count += 1
    number = try buffer.readInt64()
    email = try buffer.read()
    first = try buffer.readString()
    last = try buffer.readString()
  }
}

@Suite("Uniqueness")
struct UniquenessTests {
  let backend: MemoryBackend
  let store: Store

  init() throws {
    backend = try MemoryBackend()
    store = Store(backend: backend)
    try store.register(Member.self)
  }

  private func otherStore() throws -> Store {
    let other = Store(backend: backend)
    try other.register(Member.self)
    return other
  }

  private func expectDuplicate(_ store: Store, _ sourceLocation: SourceLocation = #_sourceLocation)
  {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try store.saveChanges()
    }
    #expect(error?.code == .notUnique, sourceLocation: sourceLocation)
    #expect(error?.location.className == "Member", sourceLocation: sourceLocation)
    #expect(
      ["number", "email", "name"].contains(error?.location.property),
      sourceLocation: sourceLocation)
  }

  @Test("Two objects with one value are refused, saved or not, and nothing is written")
  func duplicates() throws {
    store.insert(Member(1))
    store.insert(Member(1))
    expectDuplicate(store)
    store.discardChanges()
    store.insert(Member(1))
    try store.saveChanges()
    store.insert(Member(2))
    store.insert(Member(1))
    expectDuplicate(store)
    #expect(try backend.recordCount(in: try backend.table(named: "Member")) == 2)
  }

  @Test("An edit, an exchange and a deletion count with their new values")
  func edits() throws {
    let (one, two) = (Member(1), Member(2))
    store.insert(one)
    store.insert(two)
    try store.saveChanges()
    two.number = 1
    expectDuplicate(store)
    one.number = 2
    try store.saveChanges()
    store.delete(one)
    two.number = 2
    try store.saveChanges()
    store.insert(Member(1))
    try store.saveChanges()
    store.insert(Member(1))
    expectDuplicate(store)
  }

  @Test("Nil is not a value")
  func nothing() throws {
    for number in 1...3 { store.insert(Member(Int64(number), nil, "\(number)")) }
    try store.saveChanges()
    store.insert(Member(4, "a@b", "4"))
    store.insert(Member(5, "a@b", "5"))
    expectDuplicate(store)
  }

  @Test("Two properties together are one value")
  func together() throws {
    let (one, two) = (Member(1, nil, "x"), Member(2, nil, "x"))
    store.insert(one)
    store.insert(two)
    try store.saveChanges()
    two.last = "1"
    expectDuplicate(store)
  }

  @Test("Saves of another store count, also new objects")
  func otherStores() throws {
    store.insert(Member(1))
    try store.saveChanges()
    let other = try otherStore()
    other.insert(Member(2))
    try other.saveChanges()
    store.insert(Member(2))
    expectDuplicate(store)
    store.discardChanges()
    try #require(try other.object(Member.self, rowID: 2)).number = 7
    try other.saveChanges()
    store.insert(Member(1, nil, "z"))
    try store.saveChanges()
    #expect(try store.object(Member.self, where: \.number, is: 7)?.rowID == 2)
  }

  @Test("They count at once, and after a save that wrote no object of the class")
  func otherStoresLater() throws {
    store.insert(Member(1))
    store.insert(Member(2))
    try store.saveChanges()
    #expect(try store.object(Member.self, where: \.number, is: 9) == nil)
    let other = try otherStore()
    other.insert(Member(9))
    try other.saveChanges()
    #expect(try store.object(Member.self, where: \.number, is: 9)?.rowID == 4)
    other.insert(Member(10))
    try other.saveChanges()
    store.delete(try #require(try store.object(Member.self, rowID: 2)))
    try store.saveChanges()
    store.insert(Member(10))
    expectDuplicate(store)
  }

  @Test("A save reads no other object of the class, not even the first one")
  func readNone() throws {
    for number: Int64 in 0..<50 { store.insert(Member(number)) }
    try store.saveChanges()
    let second = try otherStore()
    for number: Int64 in 100..<104 {
      let counter = Counter()
      try Member.$counter.withValue(counter) {
        second.insert(Member(number))
        try second.saveChanges()
      }
      #expect(counter.count == 0)
    }
  }

  @Test("Inserting or updating finds the existing object, saved or not")
  func upsert() throws {
    let first = try store.insertOrUpdate(Member(1, nil, "a"))
    #expect(try store.insertOrUpdate(Member(1, "x@y", "b")) === first)
    #expect(first.first == "b" && first.email == "x@y")
    try store.saveChanges()
    let again = Member(1, nil, "c")
    #expect(try store.insertOrUpdate(again) === first && again.store == nil)
    #expect(first.first == "c" && first.hasUnsavedChanges)
    try store.saveChanges()
    #expect(try store.count(of: Member.self) == 1)
    let error = #expect(throws: StoreError.self) {
      try store.insertOrUpdate(Member(2, "m@n", "d"))
      try store.insertOrUpdate(Member(1, "m@n"))
    }
    #expect(error?.code == .notUnique)
  }

  @Test("A value that is no longer saved finds nothing")
  func lookUp() throws {
    let member = Member(1)
    store.insert(member)
    #expect(try store.object(Member.self, where: \.number, is: 1) === member)
    try store.saveChanges()
    member.number = 2
    #expect(try store.object(Member.self, where: \.number, is: 1) == nil)
    #expect(try store.object(Member.self, where: \.number, is: 2) === member)
    store.delete(member)
    #expect(try store.object(Member.self, where: \.number, is: 2) == nil)
  }

  @Test("An update by upsert is undone")
  func undo() throws {
    let member = try store.insertOrUpdate(Member(1, nil, "a"))
    try store.saveChanges()
    store.undoManager = StoreUndoManager()
    try store.insertOrUpdate(Member(1, nil, "b"))
    try store.undoManager?.undo()
    #expect(member.first == "a")
  }
}
