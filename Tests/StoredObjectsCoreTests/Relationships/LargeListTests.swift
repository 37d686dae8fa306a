import Observation
import StoredObjectsCore
import StoredObjectsTestSupport
import Synchronization
import TestFiles
import Testing

@Suite("Relationships with many objects", .serialized)
struct LargeListTests {
  let disk = MemoryDisk()
  let store: Store
  let writer = Writer()

  init() throws {
    store = Store(backend: try MemoryBackend(disk: disk))
    try store.register(
      Writer.self, Remark.self, Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    store.insert(writer)
  }

  private func remarks(_ count: Int) -> [Remark] {
    let remarks = (0..<count).map { _ in Remark() }
    for remark in remarks { store.insert(remark) }
    return remarks
  }

  @Test("Setting, clearing and deleting the single side takes time in proportion to the objects")
  func linear() throws {
    let growth = try timeGrowth(upTo: 2_000) { count in
      let remarks = self.remarks(count)
      for remark in remarks { remark.writer = writer }
      #expect(writer.remarks.count == count)
      for remark in remarks.prefix(count / 2) { remark.writer = nil }
      #expect(writer.remarks.count == count - count / 2)
      for remark in remarks.prefix(count / 2) { remark.writer = writer }
      for (index, remark) in remarks.enumerated() where index % 2 == 0 { store.delete(remark) }
      #expect(writer.remarks.count == count / 2)
      for (index, remark) in remarks.enumerated() where index % 2 == 0 { store.insert(remark) }
      #expect(writer.remarks.count == count)
      for remark in remarks { store.delete(remark) }
      try store.saveChanges()
      #expect(writer.remarks.isEmpty)
    }
    // In proportion would be 4, quadratic 16.
    #expect(growth < 9)
  }

  @Test("The same is true of moving all objects of a list to another one")
  func handingOver() throws {
    let other = Writer()
    store.insert(other)
    let growth = try timeGrowth(upTo: 2_000) { count in
      let remarks = self.remarks(count)
      writer.remarks = remarks
      other.remarks = remarks.reversed()
      #expect(writer.remarks.isEmpty)
      for remark in remarks { remark.writer = writer }
      #expect(other.remarks.isEmpty && writer.remarks == remarks)
      for remark in remarks { store.delete(remark) }
      try store.saveChanges()
    }
    #expect(growth < 9)
  }

  @Test("The same is true of inserting objects in a list, filled on one side or both")
  func inserting() throws {
    let growth = try timeGrowth(upTo: 2_000) { count in
      let list = TuneList()
      store.insert(list)
      let tunes = (0..<count).map { Tune("\($0)") }
      for tune in tunes { tune.lists = [list] }
      list.tunes = Array(tunes.prefix(count / 2) + tunes.prefix(count / 2))
      for tune in tunes { store.insert(tune) }
      #expect(list.tunes.count == count + count / 2)
      #expect(tunes[0].lists == [list, list] && tunes[count - 1].lists == [list])
      for object in tunes + [list] { store.delete(object) }
      try store.saveChanges()
    }
    #expect(growth < 9)
  }

  @Test("A list has the order of the edits, whenever it is read")
  func order() throws {
    let remarks = self.remarks(5)
    for remark in remarks { remark.writer = writer }
    remarks[1].writer = nil
    remarks[3].writer = nil
    remarks[1].writer = writer
    #expect(writer.remarks == [0, 2, 4, 1].map { remarks[$0] })
    remarks[0].writer = nil
    remarks[3].writer = writer
    writer.remarks.swapAt(0, 1)
    #expect(writer.remarks == [4, 2, 1, 3].map { remarks[$0] })
    remarks[0].writer = writer
    remarks[0].writer = nil
    try store.saveChanges()
    let saved = Store(backend: store.backend)
    try saved.register(Writer.self, Remark.self)
    let read = try #require(try saved.allObjects(of: Writer.self).first)
    #expect(read.remarks.map(\.rowID) == writer.remarks.map(\.rowID))
  }

  @Test("A query sees a reference set on the other side")
  func queries() throws {
    let remarks = self.remarks(2)
    try store.saveChanges()
    remarks[0].writer = writer
    remarks[1].writer = writer
    #expect(try store.referrers(of: remarks[0], through: \Writer.remarks) == [writer])
  }

  @Test("An observed list reports a change on the other side before it is read")
  func observed() {
    store.isObservable = true
    let remarks = self.remarks(2)
    let isTold = Mutex(false)
    withObservationTracking {
      _ = writer.remarks.count
    } onChange: {
      isTold.withLock { $0 = true }
    }
    remarks[0].writer = writer
    remarks[1].text = "another"
    #expect(isTold.withLock(\.self) && writer.remarks == [remarks[0]])
  }

  @Test("Undo resets both sides in one step")
  func undo() throws {
    let remarks = self.remarks(3)
    try store.saveChanges()
    store.undoManager = StoreUndoManager()
    store.undoManager?.group { for remark in remarks { remark.writer = writer } }
    try store.undoManager?.undo()
    #expect(writer.remarks.isEmpty && remarks.allSatisfy { $0.writer == nil })
    try store.undoManager?.redo()
    #expect(writer.remarks == remarks && remarks.allSatisfy { $0.writer === writer })
    store.discardChanges()
    #expect(writer.remarks.isEmpty)
  }

  @Test("A deletion finds the references to an object by their index")
  func byIndex() throws {
    let remarks = self.remarks(200)
    for remark in remarks { remark.text = "saved" }
    remarks[10].quoted = remarks[0]
    remarks[11].quoted = remarks[1]
    try store.saveChanges()
    let table = try store.backend.table(named: "Remark")
    let second = Store(backend: store.backend)
    try second.register(Writer.self, Remark.self)
    try store.backend.commit { $0.update(remarks[99].rowID, in: table, [0, 1, 2]) }
    let quoted = try #require(try second.object(Remark.self, rowID: remarks[0].rowID))
    let moved = try #require(try second.object(Remark.self, rowID: remarks[11].rowID))
    let new = Remark()
    new.quoted = quoted
    second.insert(new)
    moved.quoted = quoted
    second.delete(quoted)
    #expect(new.quoted == nil && moved.quoted == nil)
    #expect(try second.object(Remark.self, rowID: remarks[10].rowID)?.quoted == nil)
    // A scan of all objects would have found it.
    #expect(second.fetchFailures.isEmpty)
    try second.saveChanges()
  }

  @Test(
    "An object that is deleted and inserted again keeps its positions, with an inverse or without")
  func deletedAndInserted() throws {
    let remarks = self.remarks(6)
    writer.remarks = remarks
    remarks[5].quoted = remarks[2]
    try store.saveChanges()
    for index in [2, 3, 0] { store.delete(remarks[index]) }
    #expect(remarks[5].quoted == nil && writer.remarks == [1, 4, 5].map { remarks[$0] })
    store.insert(remarks[3])
    #expect(writer.remarks == [1, 3, 4, 5].map { remarks[$0] })
    store.insert(remarks[2])
    store.insert(remarks[0])
    #expect(writer.remarks == remarks && remarks[5].quoted === remarks[2])
    #expect(remarks.allSatisfy { $0.writer === writer })
    store.delete(writer)
    #expect(remarks.allSatisfy { $0.writer == nil })
    store.insert(writer)
    #expect(writer.remarks == remarks && remarks.allSatisfy { $0.writer === writer })
    try store.saveChanges()
    #expect(!store.hasUnsavedChanges)
  }
}
