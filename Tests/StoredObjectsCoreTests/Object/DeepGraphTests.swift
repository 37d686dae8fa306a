import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

private func makeChain<Object: DeepLink>(_ length: Int, of type: Object.Type) -> Object {
  let objects = (0..<length).map { _ in type.init() }
  for (object, next) in zip(objects, objects.dropFirst()) { object.hold(next) }
  return objects[0]
}

/// A disk with a chain of saved objects, each of which refers to the one before.
private func save<Object: DeepLink>(_ length: Int, of type: Object.Type) throws -> MemoryDisk {
  let disk = MemoryDisk()
  let backend = try MemoryBackend(disk: disk)
  let store = Store(backend: backend)
  try store.register(type)
  var last: Object?
  for _ in 0..<length {
    let object = type.init()
    object.hold(last)
    store.insert(object)
    last = object
  }
  try store.saveChanges()
  backend.close()
  return disk
}

private let linkTypes: [any DeepLink.Type] = [
  ReferenceLink.self, ArrayLink.self, ListLink.self, SetLink.self, PlainLink.self,
]

/// Chains as long as a recursion over them would have to fail on a stack of 512 KiB.
@Suite("Deep graphs") struct DeepGraphTests {
  @Test("A chain of a million objects in no store is freed on a small stack")
  func detached() {
    onSmallStack {
      weak var last: ReferenceLink?
      do {
        let chain = makeChain(1_000_000, of: ReferenceLink.self)
        var object: ReferenceLink? = chain
        for _ in 0..<10 { object = object?.other }
        last = object
        #expect(last != nil)
      }
      #expect(last == nil)
    }
  }

  @Test("A chain is freed on a small stack, whatever property refers to the next object")
  func kinds() {
    for type in linkTypes + [OddLink.self] {
      @Sendable func free(_ type: (some DeepLink).Type) {
        weak var first: StoredObject?
        do {
          let chain = makeChain(100_000, of: type)
          first = chain
        }
        #expect(first == nil, "\(type)")
      }
      onSmallStack { free(type) }
    }
  }

  @Test("Stored chains are read and freed on a small stack, of a million objects too")
  func stored() throws {
    for type in linkTypes {
      func read<Object: DeepLink>(_ type: Object.Type, _ length: Int) throws {
        let disk = try save(length, of: type)
        onSmallStack {
          #expect(throws: Never.self) {
            let store = Store(backend: try MemoryBackend(disk: disk))
            try store.register(type)
            weak var first: Object?
            do {
              let objects = try store.allObjects(of: type)
              first = objects[0]
              #expect(objects.count == length)
            }
            #expect(first == nil, "\(type)")
          }
        }
      }
      try read(type, type == ReferenceLink.self ? 1_000_000 : 50_000)
    }
  }

  @Test("Chains of unsaved, discarded, changed, deleted and orphaned objects are freed")
  func states() {
    onSmallStack {
      #expect(throws: Never.self) {
        for end in Ending.allCases {
          weak var first: ReferenceLink?
          do {
            let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
            try store.register(ReferenceLink.self)
            var object: ReferenceLink? = makeChain(50_000, of: ReferenceLink.self)
            first = object
            while let next = object {
              store.insert(next)
              object = next.other
            }
            try end.happen(to: store, first)
          }
          #expect(first == nil, "\(end)")
        }
      }
    }
  }

  private enum Ending: CaseIterable {
    case dropped, discarded, saved, changed, undone, dissolved, deleted

    func happen(to store: Store, _ first: ReferenceLink?) throws {
      switch self {
      case .dropped: break
      case .discarded: store.discardChanges()
      case .saved: try store.saveChanges()
      case .changed:
        try store.saveChanges()
        first?.other?.hold(nil)
      case .undone:
        store.discardChanges()
        store.undoManager = StoreUndoManager()
        for object in (0..<50_000).map({ _ in ReferenceLink() }) {
          object.hold(first)
          store.insert(object)
        }
        try store.undoManager?.undo()
        try store.undoManager?.redo()
      case .dissolved:
        try store.saveChanges()
        store.dissolveAllRelationships()
      case .deleted:
        try store.saveChanges()
        for object in try store.allObjects(of: ReferenceLink.self) { store.delete(object) }
        try store.saveChanges()
      }
    }
  }

  @Test("Cascading deletion along a chain, undo and redo use no stack per object")
  func cascade() throws {
    @Sendable func test<Object: DeepLink>(_ type: Object.Type, _ length: Int) throws {
      let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
      try store.register(type)
      let objects = (0..<length).map { _ in type.init() }
      for object in objects { store.insert(object) }
      for (object, next) in zip(objects, objects.dropFirst()) { object.hold(next) }
      try store.saveChanges()
      let history = StoreUndoManager()
      store.undoManager = history
      store.delete(objects[0])
      #expect(objects.allSatisfy { $0.isDeleted })
      try history.undo()
      #expect(objects.allSatisfy { !$0.isDeleted })
      try history.redo()
      try store.saveChanges()
      #expect(try store.count(of: type) == 0)
      try history.undo()
      store.discardChanges()
      try store.saveChanges()
    }
    onSmallStack {
      #expect(throws: Never.self) {
        try test(RuledLink.self, 30_000)
        try test(HandRuledLink.self, 100_000)
      }
    }
  }

  @Test("An object with another reference outlives those that referred to it")
  func shared() {
    let (shared, array) = (ReferenceLink(), ArrayLink())
    do {
      let chain = makeChain(100, of: ReferenceLink.self)
      var last = chain
      while let next = last.other { last = next }
      last.hold(shared)
      let lists = makeChain(2, of: ArrayLink.self)
      lists.others += [array]
    }
    shared.hold(ReferenceLink())
    #expect(shared.other != nil && array.others.isEmpty)
  }

  @Test("Weak and unowned references are not changed")
  func weakReferences() {
    let other = OddLink()
    do {
      let object = OddLink()
      (object.weakly, unsafe object.unsafely) = (other, other)
    }
    weak var survivor: OddLink? = other
    #expect(survivor === other)
    _ = survivor.take()
  }
}
