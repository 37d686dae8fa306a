import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite(.serialized) struct UniquingTests {
  /// Runs a test, and expects all objects that it has made to be freed.
  private func withoutLeaks(_ body: (Fixture) throws -> Void) throws {
    do {
      let fixture = try Fixture(Counted.self)
      fixture.keepsStores = false
      try body(fixture)
    }
    #expect(Counted.count == 0)
  }

  private func insert(_ count: Int, in store: Store) throws {
    for number in 0..<count {
      let object = Counted()
      object.number = UInt32(number)
      store.insert(object)
    }
    try store.saveChanges()
  }

  @Test("All ways to a row lead to the same instance")
  func sameInstance() throws {
    try withoutLeaks { fixture in
      let store = try fixture.store()
      let (a, b) = (Counted(), Counted())
      a.other = b
      store.insert(a)
      store.insert(b)
      #expect(try store.object(Counted.self, rowID: b.rowID) === b)
      try store.setBuffer(named: "b") { $0.writeAny(b) }
      try store.saveChanges()
      store.refresh(a)
      #expect(a.other === b)
      #expect(try store.object(Counted.self, rowID: b.rowID) === b)
      #expect(
        try store.allObjects(of: Counted.self).map(ObjectIdentifier.init)
          == [ObjectIdentifier(a), ObjectIdentifier(b)])
      var buffer = try #require(try store.buffer(named: "b"))
      #expect(try buffer.readAnyObject() === b)
      try store.enumerate(Counted.self) { object, _ in #expect(object === a || object === b) }
    }
  }

  @Test("Saved objects without references are freed, and read again when needed")
  func freed() throws {
    try withoutLeaks { fixture in
      let store = try fixture.store()
      try insert(1_000, in: store)
      #expect(Counted.count == 0)
      weak let dropped = try store.object(Counted.self, rowID: 7)
      #expect(dropped == nil)
      let held = try #require(try store.object(Counted.self, rowID: 7))
      #expect(held.number == 5 && Counted.count == 1)
    }
  }

  @Test("100,000 fetched objects are freed as they are released")
  func manyFreed() throws {
    try withoutLeaks { fixture in
      let store = try fixture.store()
      try insert(100_000, in: store)
      #expect(Counted.count == 0)
      var (sum, most) = (0, 0)
      try store.enumerate(Counted.self) { object, _ in
        sum += Int(object.number)
        most = max(most, Counted.count)
      }
      #expect(sum == 99_999 * 100_000 / 2 && most <= 2)
      #expect(try store.allObjects(of: Counted.self).count == 100_000)
      #expect(Counted.count == 0)
    }
  }

  @Test("Objects with unsaved changes are retained until they are saved or discarded")
  func held() throws {
    try withoutLeaks { fixture in
      let store = try fixture.store()
      try insert(3, in: store)
      try store.object(Counted.self, rowID: 2)?.number = 20
      try store.delete(#require(try store.object(Counted.self, rowID: 3)))
      store.insert(Counted())
      #expect(Counted.count == 3)
      fixture.backend.failCommits()
      expectStoreError(.ioError) { try store.saveChanges() }
      #expect(Counted.count == 3)
      try store.saveChanges()
      #expect(Counted.count == 0)
      #expect(try store.object(Counted.self, rowID: 2)?.number == 20)
      try store.object(Counted.self, rowID: 2)?.number = 30
      store.insert(Counted())
      #expect(Counted.count == 2)
      store.discardChanges()
      #expect(Counted.count == 0)
    }
  }

  @Test("A released store releases unsaved objects")
  func storeGoesAway() throws {
    try withoutLeaks { fixture in
      weak var gone: Store?
      do {
        let store = try fixture.store()
        gone = store
        try insert(3, in: store)
        let (a, b) = (Counted(), Counted())
        (a.other, b.other) = (b, nil)
        store.insert(a)
        store.insert(b)
        try store.object(Counted.self, rowID: 2)?.number = 9
        try store.setBuffer(named: "a") { $0.write(a) }
      }
      #expect(gone == nil && Counted.count == 0)
    }
  }

  @Test("Objects outlive their store with the objects that they retain; a fault then throws closed")
  func objectsOutlive() throws {
    try withoutLeaks { fixture in
      var objects: [Counted] = []
      do {
        let store = try fixture.store()
        try insert(3, in: store)
        objects = try store.allObjects(of: Counted.self)
        store.refresh(objects[2])
        objects[1].number = 77
        store.delete(objects[0])
      }
      #expect(objects.map { $0.store == nil } == [true, true, true])
      #expect(objects[0].number == 0 && objects[1].number == 77)
      #expect(!objects[1].hasUnsavedChanges && !objects[0].isDeleted)
      expectStoreError(.closed) { try objects[2].fetchContent() }
      #expect(objects[2].hasContent == false)
      objects[1].number = 78
    }
  }

  @Test("An object that outlived its store can be inserted in another one")
  func adoptOrphan() throws {
    try withoutLeaks { fixture in
      let object = Counted()
      do {
        let store = try fixture.store()
        object.number = 5
        store.insert(object)
      }
      let store = try fixture.store()
      store.insert(object)
      #expect(object.store === store)
      try store.saveChanges()
      #expect(try fixture.store().allObjects(of: Counted.self).map(\.number) == [5])
    }
  }

  @Test("dissolveAllRelationships() frees cycles, and keeps unsaved changes")
  func cycles() throws {
    try withoutLeaks { fixture in
      let store = try fixture.store()
      do {
        let objects = (0..<100).map { _ in Counted() }
        for (index, object) in objects.enumerated() {
          object.number = UInt32(index)
          object.other = objects[(index + 1) % 100]
          store.insert(object)
        }
      }
      try store.saveChanges()
      #expect(Counted.count == 100)
      let first = try #require(try store.object(Counted.self, rowID: 2))
      first.number = 1_000
      store.dissolveAllRelationships()
      // The changed one keeps its reference, and that is a fault with none of its own.
      #expect(Counted.count == 2)
      #expect(store.hasUnsavedChanges)
      #expect(first.other?.number == 1 && first.other?.other?.number == 2)
      try store.saveChanges()
      store.dissolveAllRelationships()
      #expect(first.number == 1_000 && first.other?.number == 1)
      store.dissolveAllRelationships()
    }
  }

  @Test("A chain of 50,000 objects can be dissolved without overflowing the stack")
  func longChain() throws {
    try withoutLeaks { fixture in
      let store = try fixture.store()
      do {
        var last: Counted?
        for _ in 0..<50_000 {
          let object = Counted()
          object.other = last
          store.insert(object)
          last = object
        }
        try store.saveChanges()
        #expect(Counted.count == 50_000)
        store.dissolveAllRelationships()
      }
      #expect(Counted.count == 0)
    }
  }
}
