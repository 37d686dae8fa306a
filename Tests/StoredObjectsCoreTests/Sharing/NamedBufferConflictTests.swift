import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Named buffers of several stores")
struct NamedBufferConflictTests {
  private func text(_ store: Store, _ name: String = "A") throws -> String? {
    var buffer = try store.buffer(named: name)
    return try buffer?.readString()
  }

  private func set(_ store: Store, _ text: String, _ name: String = "A") throws {
    try store.setBuffer(named: name) { $0.write(text) }
  }

  /// Two stores that know the buffer A.
  private func twoStores(_ fixture: Fixture) throws -> (Store, Store) {
    let (first, second) = (try fixture.store(), try fixture.store())
    try set(first, "1")
    try first.saveChanges()
    #expect(try text(second) == "1")
    return (first, second)
  }

  @Test("Overwriting a buffer that another store has saved since is a conflict, which names it")
  func conflict() throws {
    let fixture = try Fixture()
    let (first, second) = try twoStores(fixture)
    try set(second, "theirs")
    try second.saveChanges()
    try set(first, "mine")
    for _ in 0..<2 {
      let error = expectStoreError(.conflict) { try first.saveChanges() }
      #expect(error?.message.contains("\"A\"") == true)
      first.mergeChanges()
    }
    #expect(try text(first) == "mine" && text(second) == "theirs")
    first.discardChanges()
    #expect(try text(first) == "theirs")
    try set(first, "mine")
    try first.saveChanges()
    #expect(try text(second) == "mine")
  }

  @Test("Keeping the store's own changes resolves it")
  func keep() throws {
    let fixture = try Fixture()
    let (first, second) = try twoStores(fixture)
    try set(first, "mine")
    try set(second, "theirs")
    try second.saveChanges()
    expectStoreError(.conflict) { try first.saveChanges() }
    first.keepConflictingChanges()
    try first.saveChanges()
    #expect(try text(fixture.store()) == "mine")
    try set(second, "again")
    expectStoreError(.conflict) { try second.saveChanges() }
  }

  @Test("Removing a buffer conflicts with saving it, both ways")
  func removal() throws {
    let fixture = try Fixture()
    let (first, second) = try twoStores(fixture)
    try second.removeBuffer(named: "A")
    try set(first, "2")
    try first.saveChanges()
    expectStoreError(.conflict) { try second.saveChanges() }
    second.discardChanges()
    try second.removeBuffer(named: "A")
    try second.saveChanges()
    try set(first, "3")
    expectStoreError(.conflict) { try first.saveChanges() }
    first.keepConflictingChanges()
    try first.saveChanges()
    #expect(try text(second) == "3")
  }

  @Test(
    "A buffer that was read, or whose change was merged, is not a conflict, nor are other names")
  func noConflict() throws {
    let fixture = try Fixture()
    let (first, second) = try twoStores(fixture)
    for number in 2..<6 {
      try set(second, "\(number)")
      try set(first, "other", "B")
      try second.saveChanges()
      try first.saveChanges()
      if number % 2 == 0 { #expect(try text(first) == "\(number)") } else { first.mergeChanges() }
      try set(first, "\(number)+")
      try first.saveChanges()
      #expect(try text(second) == "\(number)+")
    }
  }

  @Test("Overwriting a buffer without reading it is a conflict as well")
  func unread() throws {
    let fixture = try Fixture()
    let (first, second) = (try fixture.store(), try fixture.store())
    try set(first, "1")
    try first.saveChanges()
    try set(second, "2")
    expectStoreError(.conflict) { try second.saveChanges() }
    // A store that is made later knows what is saved before.
    let third = try fixture.store()
    try set(third, "3")
    try third.saveChanges()
    #expect(try text(first) == "3")
  }

  @Test(
    "Undo does not overwrite a buffer that another store has saved since", arguments: [0, 1, 2])
  func undo(when: Int) throws {
    let fixture = try Fixture()
    let (first, second) = try twoStores(fixture)
    let history = StoreUndoManager()
    first.undoManager = history
    try history.group { try set(first, "2") }
    try first.saveChanges()
    if when == 2 { try history.undo() }
    if when < 2 { #expect(try text(second) == "2") }
    try set(second, "theirs")
    if when < 2 {
      try second.saveChanges()
      if when == 1 { #expect(try text(first) == "theirs") }
      expectStoreError(.conflict) { try history.undo() }
      #expect(history.canUndo && !first.hasUnsavedChanges)
    } else {
      expectStoreError(.conflict) { try second.saveChanges() }
      second.keepConflictingChanges()
      try second.saveChanges()
      expectStoreError(.conflict) { try first.saveChanges() }
    }
    #expect(try text(fixture.store()) == "theirs")
  }
}
