import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

/// A list of tunes with one more property, which says no version.
private final class CarelessList: StoredObject {
  @Content var name = ""
  @Content var tunes: [Tune] = []
  @Content var note = "none"

  override class var storedName: String { "TuneList" }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(tunes)
    buffer.write(note)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    tunes = try buffer.readObjects(of: Tune.self)
    note = try buffer.readString()
  }
}

/// Problems of ordered relationships in other libraries.
@Suite("Ordered lists in difficult cases")
struct OrderedListTests {
  let index = MemoryLocation()

  private func session<Value>(_ body: (Store) throws -> Value) throws -> Value {
    let store = Store(backend: try index.open())
    try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    defer { store.dissolveAllRelationships() }
    let value = try body(store)
    try store.backend.close()
    return value
  }

  private func tunes(_ count: Int, in store: Store) -> [Tune] {
    (0..<count).map { number in
      let tune = Tune("\(number)")
      store.insert(tune)
      return tune
    }
  }

  /// Saves a list of tunes with these numbers.
  private func fill(_ name: String, _ numbers: [Int], of count: Int) throws {
    try session { store in
      let tunes = tunes(count, in: store)
      store.insert(TuneList(name, numbers.map { tunes[$0] }))
      try store.saveChanges()
    }
  }

  private func numbers(_ list: TuneList?) -> [Int] {
    (list?.tunes ?? []).compactMap { Int($0.name) }
  }

  private func saved(_ row: UInt32 = 2) throws -> [Int] {
    try session { numbers(try $0.object(TuneList.self, rowID: row)) }
  }

  @Test("The order is kept on reload")
  func orderOnReload() throws {
    var random = Seeds.generator(for: "order on reload")
    let order = Array(0..<500).shuffled(using: &random)
    try fill("x", order, of: 500)
    #expect(try saved() == order)
  }

  @Test("The same song can be in a list twice")
  func sameSongTwice() throws {
    try fill("x", [0, 1, 0, 0, 1], of: 2)
    #expect(try saved() == [0, 1, 0, 0, 1])
  }

  @Test("A change of the order only is saved")
  func reorderOnly() throws {
    try fill("x", [0, 1, 2], of: 3)
    try session { store in
      let list = try #require(try store.object(TuneList.self, rowID: 2))
      list.tunes.swapAt(0, 2)
      #expect(store.hasUnsavedChanges && list.hasUnsavedChanges)
      #expect(!list.tunes.contains { $0.hasUnsavedChanges })
      try store.saveChanges()
    }
    #expect(try saved() == [2, 1, 0])
  }

  @Test("A move and a removal are in one save")
  func moveAndRemove() throws {
    try fill("x", [0, 1, 2, 3, 4], of: 5)
    try session { store in
      let list = try #require(try store.object(TuneList.self, rowID: 2))
      list.tunes.insert(list.tunes.remove(at: 4), at: 0)
      list.tunes.remove(at: 2)
      try store.saveChanges()
      #expect(try store.object(Tune.self, rowID: 3)?.lists == [])
    }
    #expect(try saved() == [4, 0, 2, 3])
  }

  @Test("An object that is in a list twice can be deleted")
  func deleteOfMemberPresentTwice() throws {
    try fill("x", [0, 1, 0, 2, 0], of: 3)
    try session { store in
      store.delete(try #require(try store.object(Tune.self, rowID: 2)))
      try store.saveChanges()
    }
    #expect(try saved() == [1, 2])
  }

  @Test("Both sides have an order")
  func bothSidesOrdered() throws {
    try session { store in
      let tunes = tunes(2, in: store)
      let lists = ["x", "y", "z"].map { TuneList($0) }
      for list in lists { store.insert(list) }
      tunes[0].lists = [lists[2], lists[0], lists[1]]
      lists[0].tunes.insert(tunes[1], at: 0)
      tunes[1].lists.insert(lists[2], at: 0)
      try store.saveChanges()
    }
    try session { store in
      let tunes = try store.allObjects(of: Tune.self)
      #expect(tunes.map { $0.lists.map(\.name) } == [["z", "x", "y"], ["z", "x"]])
      let lists = try store.allObjects(of: TuneList.self)
      #expect(lists.map { numbers($0) } == [[1, 0], [0], [0, 1]])
    }
  }

  @Test("A move in a list of 100,000 writes one record, with 4 bytes per entry")
  func longListWithOneMove() async throws {
    let count = 100_000
    try session { store in
      let disc = Disc()
      disc.favourites = tunes(count, in: store)
      store.insert(disc)
      try store.saveChanges()
    }
    let backend = try index.open()
    let store = Store(backend: backend)
    try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    let disc = try #require(try store.object(Disc.self, rowID: 2))
    disc.favourites.insert(disc.favourites.remove(at: 99_000), at: 10)
    var changes = store.committedChanges().makeAsyncIterator()
    try store.saveChanges()
    let saved = try #require(await changes.next())
    #expect(saved[Disc.self].updated == [2] && !saved.contains(Tune.self))
    let table = try backend.table(named: "Disc")
    let size = try backend.withRecord(2, in: table) { $0.byteCount }
    // Two counts, the sleeve, the version and the checksum besides.
    #expect(size == 4 * count + 4 + 4 + 4 + 1 + 4)
    store.dissolveAllRelationships()
    try backend.close()
  }

  @Test("The same song is in many lists in different orders")
  func manyLists() throws {
    var random = Seeds.generator(for: "many lists")
    let orders = (0..<50).map { _ in Array(0..<20).shuffled(using: &random) }
    try session { store in
      let tunes = tunes(20, in: store)
      for order in orders { store.insert(TuneList("", order.map { tunes[$0] })) }
      try store.saveChanges()
    }
    try session { store in
      let lists = try store.allObjects(of: TuneList.self)
      #expect(lists.map { numbers($0) } == orders)
      #expect(try store.object(Tune.self, rowID: 2)?.lists.count == 50)
    }
  }

  @Test("A list of 300,000 survives reload and an append")
  func hugeList() throws {
    let count = 300_000
    try session { store in
      let disc = Disc()
      disc.favourites = tunes(count, in: store)
      store.insert(disc)
      try store.saveChanges()
    }
    try session { store in
      let disc = try #require(try store.object(Disc.self, rowID: 2))
      #expect(disc.favourites.count == count)
      disc.favourites.append(try #require(disc.favourites.first))
      try store.saveChanges()
    }
    try session { store in
      let disc = try #require(try store.object(Disc.self, rowID: 2))
      #expect(disc.favourites.count == count + 1)
      #expect(disc.favourites[0].name == "0" && disc.favourites[count - 1].name == "299999")
      #expect(disc.favourites[count].name == "0")
    }
  }

  @Test("A text with a zero byte reads back completely")
  func zeroByte() throws {
    try session { store in
      store.insert(Tune("a\0b"))
      try store.saveChanges()
    }
    #expect(try session { try $0.object(Tune.self, rowID: 2)?.name } == "a\0b")
  }

  @Test(
    "Reachable objects that were not inserted are refused by name, and nothing is saved")
  func reachable() throws {
    try session { store in
      let list = TuneList("x")
      store.insert(list)
      try store.saveChanges()
      let tune = Tune("new")
      list.tunes = [tune]
      let error = #expect(throws: StoreError.self) { try store.saveChanges() }
      #expect(error?.code == .notEncodable && error?.location.className == "TuneList")
      let message = error?.description ?? ""
      #expect(message.contains("insert it first"))
      store.insert(tune)
      try store.saveChanges()
      #expect(tune.lists == [list])
    }
    #expect(try session { try $0.object(TuneList.self, rowID: 2)?.tunes.map(\.name) } == ["new"])
  }

  @Test("A property added without a version is detected, and nothing is lost")
  func addedWithoutVersion() throws {
    try fill("x", [0, 1], of: 2)
    let store = Store(backend: try index.open())
    let error = #expect(throws: StoreError.self) {
      try store.register(Tune.self, CarelessList.self)
    }
    #expect(error?.code == .changedLayout && error?.location.className == "TuneList")
    try store.backend.close()
    #expect(try saved() == [0, 1])
  }

  @Test("20,000 appends to one list, one by one, take linear time")
  func appends() throws {
    try session { store in
      let tunes = tunes(20_000, in: store)
      /// The shortest of several, because other processes only ever make it longer.
      func time(_ count: Int) -> Duration {
        let times = (0..<5).map { _ in
          let list = TuneList("x")
          store.insert(list)
          return processorTime { for tune in tunes[..<count] { list.tunes.append(tune) } }
        }
        return times.min() ?? .zero
      }
      let (short, long) = (time(2_500), time(20_000))
      // 8 times as many; quadratic would be 64.
      #expect(long < short * 24)
      store.discardChanges()
    }
  }

  @Test("So do 20,000 new songs, each appended and inserted")
  func insertsAndAppends() throws {
    try session { store in
      let list = TuneList("x")
      store.insert(list)
      for number in 0..<20_000 {
        let tune = Tune("\(number)")
        store.insert(tune)
        list.tunes.append(tune)
      }
      try store.saveChanges()
      #expect(list.tunes.count == 20_000)
    }
    #expect(try saved() == Array(0..<20_000))
  }
}
