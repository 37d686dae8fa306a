import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite struct RelationshipTests {
  @Test("A list keeps its order and its repeats")
  func orderAndRepeats() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    let list = Playlist()
    let order = [2, 0, 2, 2, 1, 0]
    list.songs = order.map { songs[$0] }
    store.insert(list)
    try store.saveChanges()
    try fixture.reopen()
    let saved = try fixture.store().allObjects(of: Playlist.self)[0]
    #expect(saved.songs.map(\.title) == ["c", "a", "c", "c", "b", "a"])
    #expect(saved.songs[0] === saved.songs[3])
    saved.songs.swapAt(0, 1)
    saved.songs.append(saved.songs[4])
    saved.songs.remove(at: 2)
    try saved.store?.saveChanges()
    let again = try fixture.store().allObjects(of: Playlist.self)[0]
    #expect(again.songs.map(\.title) == ["a", "c", "c", "b", "a", "b"])
  }

  @Test("References go both ways and in cycles, also to the object itself")
  func cycles() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let (a, b) = (Node("a"), Node("b"))
    (a.next, b.next) = (b, a)
    a.children = [a, b, a]
    b.mixed = [a, b]
    b.anything = b
    store.insert(a)
    store.insert(b)
    try store.saveChanges()
    try fixture.reopen()
    let other = try fixture.store()
    let saved = try #require(try other.object(Node.self, rowID: a.rowID))
    #expect(saved.next?.next === saved && saved.children[0] === saved)
    #expect(saved.children.map(\.name) == ["a", "b", "a"])
    #expect(saved.next?.anything === saved.next)
    #expect(saved.next?.mixed.map { ($0 as? Node)?.name } == ["a", "b"])
    other.dissolveAllRelationships()
    store.dissolveAllRelationships()
  }

  @Test("References of unknown class name any class, and nil")
  func mixedClasses() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let (list, node, empty) = (Playlist(), Node("n"), Node("empty"))
    list.title = "list"
    for object in [list, node, empty] { store.insert(object) }
    node.mixed = [list, songs[1], node, songs[1]]
    node.anything = songs[0]
    try store.saveChanges()
    try fixture.reopen()
    let saved = try fixture.store().allObjects(of: Node.self)
    #expect(saved[0].mixed.map(\.rowID) == [2, 3, 2, 3])
    #expect((saved[0].mixed[0] as? Playlist)?.title == "list")
    #expect((saved[0].mixed[1] as? Song)?.title == "b")
    #expect((saved[0].anything as? Song)?.title == "a")
    #expect(saved[1].anything == nil && saved[1].mixed.isEmpty && saved[1].next == nil)
    saved[0].store?.dissolveAllRelationships()
  }

  @Test("20,000 appends to one list take linear time")
  func manyAppends() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let list = Playlist()
    store.insert(list)
    try store.saveChanges()
    /// The shortest of nine, since other programs may be busy.
    func append(_ count: Int) -> Duration {
      let times = (0..<9).map { _ in
        list.songs = []
        return processorTime {
          for index in 0..<count { list.songs.append(songs[index % 2]) }
        }
      }
      return times.min() ?? .zero
    }
    let (few, many) = (append(2_000), append(20_000))
    // Ten times as many: were each a copy of the list, it would take a hundred times as long.
    #expect(many < max(few, .milliseconds(1)) * 50)
    try store.saveChanges()
    #expect(try fixture.store().allObjects(of: Playlist.self)[0].songs.count == 20_000)
  }

  @Test("Deleting cascades as the delete rules say, through cycles as well")
  func cascade() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let nodes = (0..<6).map { Node("\($0)") }
    for node in nodes { store.insert(node) }
    nodes[0].children = [nodes[1], nodes[2], nodes[1]]
    nodes[1].next = nodes[3]
    nodes[3].next = nodes[0]
    nodes[3].children = [nodes[3]]
    nodes[5].cascades = true
    for node in nodes[0...3] { node.cascades = true }
    try store.saveChanges()
    store.delete(nodes[3])
    #expect(nodes.map(\.isDeleted) == [true, true, true, true, false, false])
    #expect(try store.allObjects(of: Node.self).map(\.name) == ["4", "5"])
    try store.saveChanges()
    #expect(try fixture.store().allObjects(of: Node.self).map(\.name) == ["4", "5"])
  }

  @Test("Without a delete rule, only the object itself is deleted")
  func noCascade() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    let (a, b) = (Node("a"), Node("b"))
    a.children = [b]
    store.insert(a)
    store.insert(b)
    try store.saveChanges()
    store.delete(a)
    try store.saveChanges()
    #expect(try fixture.store().allObjects(of: Node.self).map(\.name) == ["b"])
  }

  @Test("A reference to a row that its class never had is damage, not an object")
  func unknownRow() throws {
    let fixture = try Fixture()
    let (store, _) = try fixture.store(songs: "a")
    let list = Playlist()
    store.insert(list)
    try store.saveChanges()
    // Row 1 announces classes, see `SubclassReferenceTests`.
    for row in [UInt8(3), 200] {
      try fixture.overwrite(Playlist.self, 2, [0, 0, 0, 0, 0, 1, 0, 0, 0, row, 0, 0, 0])
      let other = try fixture.store()
      let error = expectStoreError(.damaged) { _ = try other.allObjects(of: Playlist.self) }
      #expect((error?.underlying as? DataBufferError)?.code == .unknownRow)
      #expect(error?.location.offset == 9)
    }
  }
}
