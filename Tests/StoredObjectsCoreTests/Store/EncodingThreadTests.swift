import Locks
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// Notes on which threads its objects are written; refuses to write some values.
private final class Sample: StoredObject {
  @Content var value: UInt32 = 0

  static let threads = Locked<Set<UInt>>([])
  static let refused: UInt32 = .max
  struct Refusal: Error {}

  convenience init(_ value: UInt32) {
    self.init()
    self.value = value
  }

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    value = try buffer.readUInt32()
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    if value == Self.refused { throw Refusal() }
    buffer.write(value)
    _ = Self.threads.withLock { $0.insert(ThreadIdentity.current) }
  }
}

/// Says what is not so: a reference needs the store.
private final class Link: StoredObject {
  @Content var sample: Sample?

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    sample = try buffer.readObject(of: Sample.self)
  }

  override func writeContent(to buffer: inout DataBuffer) { buffer.write(sample) }
}

// One after the other, because the class counts its threads.
@Suite("Objects encoded on a second thread", .serialized)
struct EncodingThreadTests {
  private static let count: UInt32 = 25_001

  private func fixture() throws -> (Fixture, Store) {
    let fixture = try Fixture(Sample.self, Link.self)
    return (fixture, try fixture.store(.init()))
  }

  private func insert(_ store: Store) -> [Sample] {
    (0..<Self.count).map { number in
      let sample = Sample(number)
      store.insert(sample)
      return sample
    }
  }

  @Test("Two threads write the same records as one, with rows and checksums")
  func inserting() throws {
    let (fixture, store) = try fixture()
    _ = insert(store)
    Sample.threads.withLock { $0 = [] }
    try store.saveChanges()
    #expect(Sample.threads.withLock { $0.count } == 2)
    try fixture.reopen()
    let saved = try fixture.store(.init()).allObjects(of: Sample.self)
    #expect(saved.map(\.value) == Array(0..<Self.count))
    #expect(saved.map(\.rowID) == Array(2..<Self.count + 2))
    #expect(try fixture.store(.init()).check().findings.isEmpty)
  }

  @Test("Inserts, updates and deletes can be mixed, in either half")
  func mixing() throws {
    let (fixture, store) = try fixture()
    let samples = insert(store)
    try store.saveChanges()
    for (number, sample) in samples.enumerated() {
      if number % 3 == 0 { store.delete(sample) } else { sample.value += 1 }
    }
    store.insert(Sample(7))
    try store.saveChanges()
    try fixture.reopen()
    let saved = try fixture.store(.init()).allObjects(of: Sample.self)
    let expected = (0..<Self.count).filter { $0 % 3 != 0 }.map { $0 + 1 } + [7]
    #expect(saved.map(\.value) == expected)
  }

  @Test("A class that turns out to write references is written by the store")
  func references() throws {
    let (fixture, store) = try fixture()
    for sample in insert(store) {
      let link = Link()
      link.sample = sample
      store.insert(link)
    }
    try store.saveChanges()
    try fixture.reopen()
    let links = try fixture.store(.init()).allObjects(of: Link.self)
    #expect(links.count == Self.count && links.allSatisfy { $0.sample?.rowID == $0.rowID })
  }

  @Test(
    "An object that can't be written is reported with its row, and nothing is saved",
    arguments: [3, 24_000])
  func refusing(index: Int) throws {
    let (fixture, store) = try fixture()
    let samples = insert(store)
    samples[index].value = Sample.refused
    let error = expectStoreError(.notEncodable) { try store.saveChanges() }
    #expect(error?.location.rowID == samples[index].rowID)
    #expect(error?.underlying is Sample.Refusal)
    #expect(try fixture.store(.init()).count(of: Sample.self) == 0)
    samples[index].value = 1
    try store.saveChanges()
    #expect(try fixture.store(.init()).count(of: Sample.self) == samples.count)
  }
}
