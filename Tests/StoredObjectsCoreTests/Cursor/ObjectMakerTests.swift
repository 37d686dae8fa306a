import Locks
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

/// Notes on which threads its objects are read.
private final class Measurement: StoredObject {
  @Content var value: UInt32 = 0
  @Content var unit = ""

  static let threads = Locked<Set<UInt>>([])

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    value = try buffer.readUInt32()
    unit = try buffer.readString()
    _ = Self.threads.withLock { $0.insert(ThreadIdentity.current) }
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(value)
    buffer.write(unit)
  }
}

/// Says what is not so: a reference needs the store.
private final class Experiment: StoredObject {
  @Content var measurement: Measurement?

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    measurement = try buffer.readObject(of: Measurement.self)
  }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(measurement) }
}

// One after the other, because the class counts its threads.
@Suite("Objects created on the thread that reads ahead", .serialized)
struct ObjectMakerTests {
  private static let count: UInt32 = 40_000

  /// A store with measurements; the objects are gone.
  private func makeFixture() throws -> Fixture {
    let fixture = try Fixture(Measurement.self, Experiment.self)
    let store = try fixture.store()
    for number in 0..<Self.count {
      let measurement = Measurement()
      (measurement.value, measurement.unit) = (number, "unit \(number)")
      store.insert(measurement)
    }
    try store.saveChanges()
    return fixture
  }

  /// Records of measurements, without checksums.
  private func firstBatch(_ store: Store) throws -> (RecordBatch, RegisteredClass) {
    let entry = try #require(store.registration(of: Measurement.self))
    var batch = RecordBatch()
    _ = try store.backend.copyRecords(of: entry.table, from: nil, to: &batch)
    batch.removeAll { $0 <= ClassMetadata.rowID }
    return (batch, entry)
  }

  @Test("All objects are returned once, with their content, and two threads have read them")
  func content() throws {
    let store = try makeFixture().store()
    Measurement.threads.withLock { $0 = [] }
    let measurements = try store.allObjects(of: Measurement.self)
    #expect(measurements.count == Self.count)
    let areRight = measurements.enumerated().allSatisfy { number, measurement in
      measurement.value == number && measurement.unit == "unit \(number)"
        && measurement.rowID == number + 2 && measurement.hasContent && measurement.store === store
    }
    #expect(areRight)
    #expect(!store.hasUnsavedChanges)
    #expect(Measurement.threads.withLock { $0.count } == (TwoThreads.areUseful ? 2 : 1))
  }

  @Test("An object in memory keeps its changes; a deleted one is left out")
  func livingObjects() throws {
    let store = try makeFixture().store()
    let changed = try #require(try store.object(Measurement.self, rowID: Self.count - 3))
    changed.unit = "changed"
    let deleted = try #require(try store.object(Measurement.self, rowID: Self.count - 5))
    store.delete(deleted)
    let measurements = try store.allObjects(of: Measurement.self)
    #expect(measurements.count == Self.count - 1)
    #expect(measurements.contains { $0 === changed } && changed.unit == "changed")
    #expect(!measurements.contains { $0.rowID == deleted.rowID })
  }

  @Test("The objects can be changed, saved, released and fetched again like any other")
  func editing() throws {
    let fixture = try makeFixture()
    let store = try fixture.store()
    for measurement in try store.allObjects(of: Measurement.self) { measurement.unit += "!" }
    try store.saveChanges()
    #expect(store.registration(of: Measurement.self)?.livingCount == 0)
    try fixture.reopen()
    let saved = try fixture.store().allObjects(of: Measurement.self)
    #expect(saved.allSatisfy { $0.unit == "unit \($0.value)!" })
  }

  @Test("A class that turns out to read references is read by the store")
  func references() throws {
    let fixture = try makeFixture()
    let store = try fixture.store()
    for measurement in try store.allObjects(of: Measurement.self) {
      let experiment = Experiment()
      experiment.measurement = measurement
      store.insert(experiment)
    }
    try store.saveChanges()
    try fixture.reopen()
    let experiments = try fixture.store().allObjects(of: Experiment.self)
    #expect(experiments.count == Self.count)
    #expect(experiments.allSatisfy { $0.measurement?.rowID == $0.rowID })
  }

  @Test("A damaged record far ahead is reported with its row")
  func damage() throws {
    let fixture = try makeFixture()
    try fixture.overwrite(Measurement.self, Self.count - 7, [0, 1, 2])
    let store = try fixture.store()
    let error = expectStoreError(.damaged) { _ = try store.allObjects(of: Measurement.self) }
    #expect(error?.location.rowID == Self.count - 7)
  }

  @Test("No objects are created from a batch with a record that needs the store")
  func unusualRecords() throws {
    let store = try makeFixture().store()
    let (batch, entry) = try firstBatch(store)
    let maker = try #require(ObjectMaker(entry))
    for index in [0, batch.count - 1] {
      var cut = batch
      cut.entries[index].end -= 1
      #expect(maker.objects(of: &cut) == nil)
      var long = batch
      long.entries[index].end += 1
      #expect(maker.objects(of: &long) == nil)
      var newer = batch
      newer.bytes[Int(batch.entries[index].start)] = entry.version + 1
      #expect(maker.objects(of: &newer) == nil)
      #expect(newer.bytes.count == batch.bytes.count)
    }
    var whole = batch
    #expect(maker.objects(of: &whole) != nil && whole.bytes == batch.bytes)
  }

  @Test("A class must allow it, and most of its objects must not be in memory")
  func conditions() throws {
    let store = try makeFixture().store()
    let entry = try #require(store.registration(of: Measurement.self))
    #expect(ObjectMaker(entry) != nil)
    let measurements = try store.allObjects(of: Measurement.self)
    #expect(ObjectMaker(entry) == nil && measurements.count == Self.count)
    try store.register(Song.self)
    #expect(ObjectMaker(try #require(store.registration(of: Song.self))) == nil)
  }
}
