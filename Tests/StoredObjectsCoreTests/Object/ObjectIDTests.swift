import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Object IDs")
struct ObjectIDTests {
  let disk = MemoryDisk()
  let store: Store
  let act = Act("a")
  let live = LiveAct("l")
  let show = Show()

  init() throws {
    store = try actStore(disk)
    try store.save(act, live, show)
  }

  @Test("An ID leads to its object, in every store and every run")
  func fetching() throws {
    let id = ObjectID(act)
    #expect(try store.object(id) === act)
    #expect(id.className == "Act" && id.rowID == act.rowID && !id.isTemporary)
    let second = try store.reopened(disk)
    #expect(try second.object(id)?.name == "a")
    #expect(try second.object(ObjectID<Act>(rowID: 99)) == nil)
  }

  @Test("An ID of a superclass leads to an object of a subclass")
  func subclasses() throws {
    let id = ObjectID(live as Act)
    #expect(id.className == "LiveAct")
    let found: Act? = try store.object(id)
    #expect(found === live)
  }

  @Test("An ID of another class is an error, and fetches nothing")
  func otherClass() throws {
    let id = try #require(ObjectID<Act>("Show/2"))
    let error = #expect(throws: StoreError.self) { try store.object(id) }
    #expect(error?.code == .invalidArgument && error?.location.className == "Show")
    let unknown = try #require(ObjectID<Act>("Nobody/2"))
    let second = #expect(throws: StoreError.self) { try store.object(unknown) }
    #expect(second?.code == .notRegistered)
  }

  @Test("An ID is printed and parsed")
  func text() throws {
    #expect("\(ObjectID(act))" == "Act/2" && ObjectID<Act>("Act/2") == ObjectID(act))
    #expect(ObjectID<Act>("Box<Act/Show>/7")?.className == "Box<Act/Show>")
    for text in ["", "Act", "Act/", "/2", "Act/0", "Act/1", "Act/-2", "Act/02", "Act/+2", "Act/2 "]
    {
      #expect(ObjectID<Act>(text) == nil, "\(text)")
    }
    #expect(ObjectID<Act>("Act/4294967296") == nil)
  }

  @Test("An ID is coded as its text")
  func coding() throws {
    let ids = [ObjectID(act), ObjectID<Act>(rowID: 7)]
    let data = try JSONEncoder().encode(ids)
    #expect(String(decoding: data, as: UTF8.self) == #"["Act\/2","Act\/7"]"#)
    #expect(try JSONDecoder().decode([ObjectID<Act>].self, from: data) == ids)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ObjectID<Act>].self, from: Data(#"["Act"]"#.utf8))
    }
  }

  @Test("An object in no store has an ID that leads to no object and can't be encoded")
  func temporary() throws {
    let (new, other) = (Act("n"), Act("o"))
    let id = ObjectID(new)
    #expect(id.isTemporary && id == ObjectID(new) && id != ObjectID(other) && "\(id)" == "Act/new")
    #expect(try store.object(id) == nil)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([id]) }
    store.insert(new)
    let inserted = ObjectID(new)
    try store.saveChanges()
    #expect(!inserted.isTemporary && inserted == ObjectID(new))
    store.delete(new)
    #expect(try inserted == ObjectID(new) && store.object(inserted) == nil)
  }

  @Test("IDs of several classes are stored as IDs of any object, and can become typed again")
  func conversions() throws {
    let all: Set<ObjectID<StoredObject>> = [
      ObjectID(ObjectID(act)), ObjectID(ObjectID(live)), ObjectID(show as StoredObject),
    ]
    #expect(Set(try all.map { try #require(try store.object($0)) }) == [act, live, show])
    let any = ObjectID<StoredObject>(ObjectID(live))
    #expect(ObjectID<LiveAct>(any) == ObjectID(live) && ObjectID<Show>(any) == nil)
    #expect(ObjectID<Act>(ObjectID(live))?.className == "LiveAct")
    #expect(ObjectID<Encore>(ObjectID(live)) == nil)
  }

  @Test("An ID can be sent to another task")
  func sending() async throws {
    let id = ObjectID(act)
    let text = await Task.detached { "\(id)" }.value
    #expect(text == "Act/2")
  }
}
