import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Writes down what it hears, and may do something about it.
private final class Listener: StoreDelegate {
  var calls: [String] = []
  var onUpdate: ((StoredObject) -> Void)?
  var onInsert: ((StoredObject) -> Void)?

  func store(_ store: Store, willInsert object: StoredObject) {
    calls.append("insert \((object as? Song)?.title ?? "?")")
    onInsert?(object)
  }
  func store(_ store: Store, willDelete object: StoredObject) {
    calls.append("delete \((object as? Song)?.title ?? "?")")
  }
  func store(_ store: Store, willUpdate object: StoredObject) {
    calls.append("update \((object as? Song)?.title ?? "?")")
    onUpdate?(object)
  }
  func storeDidChange(_ store: Store) {
    calls.append(store.hasUnsavedChanges ? "changed" : "unchanged")
  }
  func storeDidSave(_ store: Store) { calls.append("saved") }
  func store(_ store: Store, didFailToFetch failure: FetchFailure) {
    calls.append("failed \(failure.rowID)")
  }
  func take() -> [String] {
    defer { calls = [] }
    return calls
  }
}

@Suite struct DelegateTests {
  @Test("A delegate is called before and after each step, in order")
  func order() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let listener = Listener()
    store.delegate = listener
    let new = Song("new", 1)
    store.insert(new)
    store.insert(new)
    #expect(listener.take() == ["insert new", "changed"])
    songs[0].title = "a2"
    songs[0].title = "a3"
    new.title = "new2"
    #expect(listener.take() == ["update a", "changed"])
    store.delete(songs[1])
    store.delete(songs[1])
    #expect(listener.take() == ["delete b", "changed"])
    store.insert(songs[1])
    #expect(listener.take() == ["insert b", "changed"])
    fixture.backend.failCommits()
    expectStoreError(.ioError) { try store.saveChanges() }
    #expect(listener.take() == [])
    try store.saveChanges()
    #expect(listener.take() == ["saved", "unchanged"])
    try store.saveChanges()
    store.discardChanges()
    #expect(listener.take() == [])
    try store.setBuffer(named: "A") { _ in }
    #expect(listener.take() == ["changed"])
    store.discardChanges()
    #expect(listener.take() == ["unchanged"])
  }

  @Test("A delegate is called once for content that could not be read")
  func fetchFailure() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let listener = Listener()
    store.delegate = listener
    try fixture.overwrite(Song.self, 2, nil)
    store.refresh(songs[0])
    _ = (songs[0].seconds, songs[0].seconds)
    songs[0].seconds = 3
    #expect(listener.take() == ["failed 2"])
  }

  @Test("A delegate can change the object of its call")
  func changesTheObject() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a")
    let listener = Listener()
    store.delegate = listener
    listener.onUpdate = { ($0 as? Song)?.seconds = 777 }
    listener.onInsert = { ($0 as? Song)?.seconds = 888 }
    songs[0].title = "a2"
    store.insert(Song("b", 1))
    #expect(listener.take().first == "update a")
    try store.saveChanges()
    let saved = try fixture.store().allObjects(of: Song.self)
    #expect(saved.map(\.seconds) == [777, 888] && saved.map(\.title) == ["a2", "b"])
  }

  @Test("A store does not retain its delegate")
  func weakDelegate() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    do {
      let listener = Listener()
      store.delegate = listener
      #expect(store.delegate === listener)
    }
    #expect(store.delegate == nil)
  }
}
