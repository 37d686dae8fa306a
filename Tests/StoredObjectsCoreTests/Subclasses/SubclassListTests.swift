import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("Packed lists and relationships with objects of subclasses")
struct SubclassListTests {
  @Test("A packed list equals an array, whatever the classes")
  func randomEdits() throws {
    var random = Seeds.generator(for: "packed lists with subclasses")
    let disk = MemoryDisk()
    var store = try actStore(disk)
    let show = Show()
    // The same row in several classes.
    for number in 0..<6 {
      try store.save(Act("a\(number)"), LiveAct("l\(number)"), Encore("e\(number)"))
    }
    try store.save(show)
    var names: [String] = []
    for _ in 0..<40 {
      store = try store.reopened(disk)
      let show = try #require(try store.object(Show.self, rowID: 2))
      #expect(show.packed.map(\.name) == names)
      let acts = try store.allObjects(of: Act.self, includingSubclasses: true)
      #expect(acts.count == 18)
      let (copy, namesOfCopy) = (show.packed, names)
      for _ in 0..<8 {
        guard let act = acts.randomElement(using: &random) else { continue }
        let index = Int.random(in: 0...names.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          show.packed.insert(act, at: index)
          names.insert(act.name, at: index)
        case 2 where index < names.count:
          show.packed.remove(at: index)
          names.remove(at: index)
        case 3 where index < names.count:
          let target = Int.random(in: 0..<names.count, using: &random)
          show.packed.move(from: index, to: target)
          names.insert(names.remove(at: index), at: target)
        case 4 where names.count > 10:
          let before = names.count
          names.removeAll { $0 == act.name }
          #expect(show.packed.removeAll(act) == before - names.count)
        default:
          #expect(show.packed.firstIndex(of: act) == names.firstIndex(of: act.name))
          #expect(show.packed.lastIndex(of: act) == names.lastIndex(of: act.name))
          #expect(show.packed.contains(act) == names.contains(act.name))
        }
      }
      #expect(show.packed.map(\.name) == names)
      #expect(copy.map(\.name) == namesOfCopy)
      #expect(show.packed == ObjectList(show.packed.array))
      #expect(show.packed.ids == show.packed.array.map { ObjectID($0) })
      try store.saveChanges()
    }
  }

  /// Returns a reopened store, and its show with an act "a" and a live act "l".
  private func showOfTwoClasses(_ disk: MemoryDisk) throws -> (Store, Show) {
    let first = try actStore(disk)
    let show = Show()
    let (act, live) = (Act("a"), LiveAct("l"))
    show.packed = [act, live]
    try first.save(act, live, show)
    let second = try first.reopened(disk)
    return (second, try #require(try second.object(Show.self, rowID: 2)))
  }

  @Test("Copies of a packed list share nothing that a change could reach, new objects included")
  func copies() throws {
    let disk = MemoryDisk()
    let (second, read) = try showOfTwoClasses(disk)
    var copy = read.packed
    let (new, newLive) = (Act("new"), LiveAct("new live"))
    second.insert(new)
    second.insert(newLive)
    copy.append(newLive)
    var third = copy
    third.move(from: 2, to: 0)
    third.insert(new, at: 1)
    copy.remove(at: 0)
    #expect(read.packed.map(\.name) == ["a", "l"])
    #expect(copy.map(\.name) == ["l", "new live"])
    #expect(third.map(\.name) == ["new live", "new", "a", "l"])
    read.packed = third
    try second.saveChanges()
    let again = try second.reopened(disk)
    let saved = try #require(try again.object(Show.self, rowID: 2))
    #expect(saved.packed.map(\.name) == ["new live", "new", "a", "l"])
  }

  @Test("An object of a subclass can be the first of an empty packed list")
  func firstOfEmpty() throws {
    let disk = MemoryDisk()
    let zero = try actStore(disk)
    try zero.save(Show(), Act("a"), LiveAct("l"))
    let second = try zero.reopened(disk)
    let live = try #require(try second.object(LiveAct.self, rowID: 2))
    let show = try #require(try second.object(Show.self, rowID: 2))
    show.packed.append(live)
    #expect(show.packed.map(\.name) == ["l"])
    try second.saveChanges()
    let third = try second.reopened(disk)
    #expect(try third.object(Show.self, rowID: 2)?.packed.map(\.name) == ["l"])
  }

  @Test("A packed list stays packed when an object of a subclass is added, and creates no object")
  func staysPacked() throws {
    let disk = MemoryDisk()
    let zero = try actStore(disk)
    let show = Show()
    let acts = (0..<100).map { Act("\($0)") }
    for act in acts { zero.insert(act) }
    show.packed = ObjectList(acts)
    try zero.save(show, LiveAct("l"))

    let second = try zero.reopened(disk)
    let read = try #require(try second.object(Show.self, rowID: 2))
    let live = try #require(try second.object(LiveAct.self, rowID: 2))
    read.packed.insert(live, at: 50)
    read.packed.move(from: 50, to: 0)
    try second.saveChanges()
    #expect(second.livingCount(of: Act.self) == 0)
    #expect(read.packed[0] === live && read.packed.count == 101)

    let third = try second.reopened(disk)
    let again = try #require(try third.object(Show.self, rowID: 2))
    #expect(again.packed.count == 101 && third.livingCount(of: Act.self) == 0)
    #expect(third.livingCount(of: LiveAct.self) == 0)
    let first = try #require(try third.object(LiveAct.self, rowID: 2))
    #expect(again.packed.firstIndex(of: first) == 0)
  }

  @Test("A list that loses its last object of a subclass has the bytes of one that never had any")
  func narrows() throws {
    let (second, read) = try showOfTwoClasses(MemoryDisk())
    read.packed.removeLast()
    try second.saveChanges()
    #expect(
      try second.record(read)
        == "00 00 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 00 00 00 00")
  }

  @Test("Inverses are kept with objects of subclasses")
  func inverses() throws {
    let disk = MemoryDisk()
    let first = try actStore(disk)
    let (act, live, encore) = (Act("a"), LiveAct("l"), Encore("e"))
    let (bill, other) = (Bill(), Bill())
    try first.save(act, live, encore, bill, other)
    bill.acts = [live, act, live]
    #expect(live.bills == [bill, bill] && act.bills == [bill])
    encore.bills = [other, bill]
    #expect(bill.acts.array == [live, act, live, encore] && other.acts.array == [encore])
    try first.saveChanges()

    let second = try first.reopened(disk)
    let read = try #require(try second.object(Bill.self, rowID: bill.rowID))
    let gone = try #require(try second.object(LiveAct.self, rowID: live.rowID))
    second.delete(gone)
    #expect(read.acts.map(\.name) == ["a", "e"])
    try second.saveChanges()
    #expect(try second.check().isSound)
    let third = try second.reopened(disk)
    #expect(try third.object(Bill.self, rowID: bill.rowID)?.acts.map(\.name) == ["a", "e"])
  }
}

extension Store {
  /// How many objects of a class are in memory.
  fileprivate func livingCount(of type: StoredObject.Type) -> Int {
    registration(of: type)?.livingCount ?? 0
  }
}
