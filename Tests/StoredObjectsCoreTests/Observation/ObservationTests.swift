import Observation
import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import Testing

@Suite("Observation")
struct ObservationTests {
  let disk = MemoryDisk()
  let store: Store
  let tune = Tune("a")
  let list = TuneList("x")

  init() throws {
    store = try linkedStore(disk)
    store.isObservable = true
    store.insert(tune)
    store.insert(list)
    try store.saveChanges()
  }

  /// Whether a change to values that one closure reads is reported while the other runs.
  private func isTold(reading: () -> Void, of change: () throws -> Void) rethrows -> Bool {
    let isTold = Mutex(false)
    withObservationTracking(reading) { isTold.withLock { $0 = true } }
    try change()
    return isTold.withLock(\.self)
  }

  @Test("Reading a property observes its changes, and not those of other objects")
  func edit() {
    #expect(
      isTold {
        _ = tune.name
      } of: {
        tune.name = "b"
      })
    #expect(
      !isTold {
        _ = tune.name
      } of: {
        list.name = "b"
      })
    #expect(
      isTold {
        _ = list.tunes
      } of: {
        list.tunes.append(tune)
      })
    #expect(tune.name == "b")
  }

  @Test("Changes by the other side of a relationship are observed")
  func inverse() {
    let isTold = isTold {
      _ = tune.lists
    } of: {
      list.tunes = [tune]
      // Brought up to date when it is read.
      _ = tune.name
    }
    #expect(isTold && tune.lists == [list])
  }

  @Test("Undo, redo, discarding and saves of other stores are observed")
  func others() throws {
    let history = StoreUndoManager()
    store.undoManager = history
    history.group { tune.name = "b" }
    #expect(
      try isTold {
        _ = tune.name
      } of: {
        try history.undo()
      })
    #expect(
      try isTold {
        _ = tune.name
      } of: {
        try history.redo()
      })
    #expect(
      isTold {
        _ = tune.name
      } of: {
        store.discardChanges()
      })
    let other = Store(backend: store.backend)
    try other.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    let isTold = try isTold {
      _ = tune.name
    } of: {
      try #require(try other.object(Tune.self, rowID: tune.rowID)).name = "theirs"
      try other.saveChanges()
      store.mergeChanges()
    }
    #expect(isTold)
    #expect(tune.name == "theirs")
  }

  @Test("Reading a fault is not a change")
  func fault() {
    store.refresh(tune)
    #expect(
      !isTold {
        _ = tune.hasContent
      } of: {
        _ = tune.name
      })
    store.refresh(tune)
    #expect(
      !isTold {
        _ = tune.name
      } of: {
        _ = tune.lists
      })
  }

  @Test("In a store that is not observable nothing is reported")
  func unobservable() {
    store.isObservable = false
    #expect(
      !isTold {
        _ = tune.name
      } of: {
        tune.name = "b"
      })
    store.isObservable = true
    #expect(
      isTold {
        _ = tune.name
      } of: {
        tune.name = "c"
      })
  }

  @Test("A freed object frees its registrar")
  func freed() throws {
    weak var freed: Tune?
    do {
      let tune = Tune("b")
      store.insert(tune)
      try store.saveChanges()
      _ = tune.name
      freed = tune
    }
    #expect(freed == nil)
  }
}

@Suite("Committed changes")
struct CommittedChangesTests {
  @Test("Every save is reported, class by class, and the sequence ends with the store")
  func saves() async throws {
    var store: Store? = try linkedStore(MemoryDisk())
    let changes = try #require(store?.committedChanges())
    let (a, b, list) = (Tune("a"), Tune("b"), TuneList("x"))
    for object in [a, b, list] { store?.insert(object) }
    try store?.saveChanges()
    try store?.saveChanges()
    a.name = "c"
    store?.delete(b)
    try store?.saveChanges()
    store = nil

    var iterator = changes.makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first[Tune.self].inserted == [2, 3] && first[TuneList.self].inserted == [2])
    #expect(!first.contains(Disc.self) && first[Disc.self].isEmpty)
    let second = try #require(await iterator.next())
    #expect(second[Tune.self].updated == [2] && second[Tune.self].deleted == [3])
    #expect(!second.contains(TuneList.self))
    #expect(await iterator.next() == nil)
  }

  @Test("A failed save is not reported")
  func failure() async throws {
    var store: Store? = try linkedStore(MemoryDisk())
    let changes = try #require(store?.committedChanges())
    let list = TuneList("x", [Tune("not inserted")])
    store?.insert(list)
    #expect(throws: StoreError.self) { try store?.saveChanges() }
    store = nil
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }
}
