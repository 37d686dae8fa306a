import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("The table of living objects")
struct UniquingTableTests {
  @Test("A table equals a dictionary after any inserts and removals")
  func model() {
    var random = Seeds.generator(for: "uniquing table")
    let table = UniquingTable()
    var model: [UInt32: Song] = [:]
    for step in 0..<20_000 {
      // Most rows are close together, as in a store, and some far apart.
      let isNear = Int.random(in: 0..<10, using: &random) > 0
      let rowID = UInt32.random(in: 0..<(isNear ? 3000 : 5_000_000), using: &random)
      #expect(table.object(rowID) === model[rowID])
      if model[rowID] == nil {
        let song = Song("", rowID)
        model[rowID] = song
        table.enter(song, rowID)
      } else if Bool.random(using: &random) {
        table.remove(rowID)
        model[rowID] = nil
      }
      #expect(table.count == model.count)
      if step.isMultiple(of: 1000) { expectSame(table, model) }
    }
    expectSame(table, model)
    for rowID in model.keys { table.remove(rowID) }
    #expect(table.count == 0)
    #expect(table.allObjects().isEmpty)
  }

  private func expectSame(_ table: UniquingTable, _ model: [UInt32: Song]) {
    let expected = model.sorted { $0.key < $1.key }.map(\.value)
    let isSame = table.allObjects().elementsEqual(expected) { $0 === $1 }
    #expect(isSame, "\(table.allObjects().count) objects, and not the \(expected.count) entered")
  }

  @Test("A row that was never inserted has no object, whatever its number")
  func missing() {
    let table = UniquingTable()
    #expect(table.object(0) == nil)
    #expect(table.object(.max) == nil)
    table.remove(7)
    #expect(table.count == 0)
  }

  @Test("A table does not keep its objects alive")
  func weakness() {
    let table = UniquingTable()
    weak var observed: Song?
    do {
      let song = Song("", 1)
      table.enter(song, 2)
      observed = song
      #expect(observed != nil)
      table.remove(2)
    }
    #expect(observed == nil)
  }

  @Test("A freed object removes its entry")
  func deinitialization() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Song.self)
    let entry = try #require(store.registration(of: Song.self))
    do {
      let song = Song("", 1)
      store.insert(song)
      try store.saveChanges()
      #expect(entry.living(2) === song)
      #expect(entry.livingObjects == [song])
    }
    #expect(entry.living(2) == nil)
    #expect(entry.livingObjects.isEmpty)
  }
}
