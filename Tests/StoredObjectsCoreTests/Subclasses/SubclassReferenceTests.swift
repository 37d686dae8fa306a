import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("References to objects of subclasses")
struct SubclassReferenceTests {
  let disk = MemoryDisk()
  let store: Store
  let act = Act("a", 1)
  let live = LiveAct("l", 2)
  let encore = Encore("e", 3)
  let show = Show()

  init() throws {
    store = try actStore(disk)
    live.venue = "v"
    for object in [act, live, encore, show] { store.insert(object) }
  }

  private func reread() throws -> (Store, Show) {
    let store = try store.reopened(disk)
    return (store, try #require(try store.object(Show.self, rowID: 2)))
  }

  @Test("Objects read back with their classes, order and repeats")
  func roundTrip() throws {
    show.lead = live
    show.acts = [act, live, act, encore, live]
    show.packed = [encore, act, act, live]
    show.picks = [act, live, encore]
    try store.saveChanges()

    let (second, read) = try reread()
    defer { withExtendedLifetime(second) {} }
    #expect((read.lead as? LiveAct)?.venue == "v")
    #expect(read.acts.map(\.name) == ["a", "l", "a", "e", "l"])
    #expect(read.acts[1] is LiveAct && read.acts[3] is Encore && !(read.acts[0] is LiveAct))
    #expect(read.acts[1] === read.lead && read.acts[4] === read.lead)
    #expect(read.packed.map(\.name) == ["e", "a", "a", "l"])
    #expect(read.packed[3] === read.lead && Set(read.acts) == read.picks)
  }

  @Test("The bytes of references have the class only if it differs")
  func bytes() throws {
    show.lead = act
    show.acts = [act, act]
    show.packed = [act]
    show.picks = [act]
    try store.saveChanges()
    #expect(
      try store.record(show) == """
        00 02 00 00 00 02 00 00 00 02 00 00 00 02 00 00 00 \
        01 00 00 00 02 00 00 00 01 00 00 00 02 00 00 00
        """)
    show.lead = live
    show.acts = [act, live]
    show.packed = [encore]
    show.picks = []
    try store.saveChanges()
    #expect(
      try store.record(show) == """
        00 01 00 00 00 02 02 00 00 00 \
        02 00 00 00 01 00 00 00 00 02 00 00 00 02 02 00 00 00 \
        01 00 00 00 01 00 00 00 04 02 00 00 00 \
        00 00 00 00
        """)
  }

  @Test("Equal sets have equal bytes")
  func sets() throws {
    var records: Set<String> = []
    for order in [[act, live, encore], [encore, act, live], [live, encore, act]] {
      show.picks = []
      for act in order { show.picks.insert(act) }
      try store.saveChanges()
      records.insert(try store.record(show))
    }
    #expect(records.count == 1)
  }

  @Test("A superclass need not be registered for references to it")
  func abstractSuperclass() throws {
    let disk = MemoryDisk()
    let classes = [Show.self, LiveAct.self, Encore.self, Bill.self]
    let store = try actStore(disk, classes)
    let (show, empty) = (Show(), Show())
    let (live, encore) = (LiveAct("l"), Encore("e"))
    (show.lead, show.acts, show.packed) = (live, [encore, live], [live])
    try store.save(live, encore, show, empty)
    try store.backend.close()

    let second = try actStore(disk, classes)
    let read = try #require(try second.object(Show.self, rowID: show.rowID))
    #expect(read.lead?.name == "l" && read.acts.map(\.name) == ["e", "l"])
    #expect(read.packed.map(\.name) == ["l"])
    let none = try #require(try second.object(Show.self, rowID: empty.rowID))
    #expect(none.lead == nil && none.acts.isEmpty && none.packed.isEmpty)
  }

  @Test("A reference to an object of another hierarchy is refused with its place")
  func wrongClass() throws {
    try store.save(Bill())
    for hex in [
      "01 00 00 00 03 02 00 00 00", "01 00 00 00 01 00 00 00 03 02 00 00 00",
    ] {
      var buffer = DataBuffer(DataBuffer(hex: hex).bytes, store: store)
      var list = buffer
      let isList = hex.count > 26
      let error = #expect(throws: DataBufferError.self) {
        _ =
          isList
          ? try buffer.readObjects(of: Act.self).first : try buffer.readObject(of: Act.self)
      }
      #expect(error?.code == .wrongClass && error?.offset == (isList ? 8 : 4))
      guard isList else { continue }
      let packed = #expect(throws: DataBufferError.self) { _ = try list.readList(of: Act.self) }
      #expect(packed?.code == .wrongClass)
    }
  }

  @Test(
    "Damaged references with a class are errors",
    arguments: [
      ("01 00 00 00 09 02 00 00 00", DataBufferError.Code.unknownClass),
      ("01 00 00 00 02 63 00 00 00", .unknownRow), ("01 00 00 00 02 00 00 00 00", .invalidValue),
      ("01 00 00 00 02 01 00 00 00", .unknownRow), ("01 00 00 00 02 02", .endOfBuffer),
    ])
  func damage(hex: String, code: DataBufferError.Code) throws {
    try store.saveChanges()
    var single = DataBuffer(DataBuffer(hex: hex).bytes, store: store)
    let error = #expect(throws: DataBufferError.self) {
      _ = try single.readObject(of: Act.self)
    }
    #expect(error?.code == code)
    var list = DataBuffer(DataBuffer(hex: "01 00 00 00 " + hex).bytes, store: store)
    var packed = list
    let second = #expect(throws: DataBufferError.self) { _ = try list.readObjects(of: Act.self) }
    #expect(second?.code == code)
    let third = #expect(throws: DataBufferError.self) { _ = try packed.readList(of: Act.self) }
    #expect(third?.code == code)
  }

  @Test("An empty list followed by the number 1 is empty")
  func emptyList() throws {
    var buffer = DataBuffer(DataBuffer(hex: "00 00 00 00 01 00 00 00").bytes, store: store)
    var second = buffer
    #expect(try buffer.readObjects(of: Act.self).isEmpty && buffer.readUInt32() == 1)
    #expect(try second.readList(of: Act.self).isEmpty && second.readUInt32() == 1)
  }

  @Test("Indexes of references and lists find the referrers of objects of subclasses")
  func indexes() throws {
    let other = Show()
    (show.lead, show.acts) = (live, [act, encore])
    (other.lead, other.acts) = (act, [live])
    try store.save(other)
    #expect(try store.referrers(of: live, through: \Show.lead) == [show])
    #expect(try store.referrers(of: encore, through: \Show.acts) == [show])
    #expect(try store.referrers(of: live, through: \Show.acts) == [other])
  }

  @Test("A check follows references to rows of subclasses")
  func check() throws {
    (show.acts, show.packed, show.lead) = ([act, live], [live, encore], encore)
    try store.saveChanges()
    #expect(try store.check().isSound)
    let (second, read) = try reread()
    let table = try second.backend.table(named: "Encore")
    try second.backend.commit { $0.delete(encore.rowID, in: table) }
    let findings = try second.check().findings.filter { $0.kind == .danglingReference }
    #expect(findings.count == 2 && findings.allSatisfy { $0.location.rowID == read.rowID })
  }

  @Test("Undo restores lists with objects of subclasses, in a store or not yet")
  func undo() throws {
    let history = StoreUndoManager()
    store.undoManager = history
    show.packed = [act]
    try store.saveChanges()
    let late = LiveAct("late")
    history.group { (show.lead, show.packed) = (live, [live, act, encore]) }
    history.group { show.acts = [late, act] }
    history.group { show.acts.append(live) }
    try history.undo()
    #expect(show.acts == [late, act])
    try history.undo()
    #expect(show.acts.isEmpty && show.packed.array == [live, act, encore])
    try history.undo()
    #expect(show.lead == nil && show.packed.array == [act])
    for _ in 0..<3 { try history.redo() }
    #expect(show.acts == [late, act, live] && show.lead === live)
    try store.save(late)
    try history.undo()
    #expect(show.acts == [late, act, live])
  }

  @Test("If another store deletes an object of a subclass, a save is a conflict")
  func conflict() throws {
    try store.saveChanges()
    let other = Store(
      backend: store.backend, configuration: .init(checksumsRecords: false))
    try other.register(actClasses)
    let theirs = try #require(try other.object(LiveAct.self, rowID: live.rowID))
    other.delete(theirs)
    try other.saveChanges()
    (show.lead, show.packed) = (live, [act, live])
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect(error?.code == .conflict)
    store.keepConflictingChanges()
    try store.saveChanges()
    let (second, read) = try reread()
    defer { withExtendedLifetime(second) {} }
    #expect(read.lead == nil && read.packed.map(\.name) == ["a"])
  }
}
