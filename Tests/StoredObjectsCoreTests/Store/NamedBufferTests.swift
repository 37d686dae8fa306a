import FoundationEssentials
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite struct NamedBufferTests {
  @Test("A named buffer can have any values of a buffer")
  func allKinds() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    let date = Date(timeIntervalSinceReferenceDate: 1.5)
    try store.setBuffer(named: "Everything") { buffer in
      buffer.write("text")
      buffer.write(Int64(-5))
      buffer.write(date)
      buffer.write(["x": 1, "y": 2] as [String: UInt32])
      buffer.write(songs[1])
      buffer.write([songs[1], songs[0], songs[1]])
      buffer.writeAny(songs[0])
      buffer.writeAny(nil)
      buffer.write(nil as Song?)
    }
    try store.saveChanges()
    try fixture.reopen()
    let other = try fixture.store()
    var buffer = try #require(try other.buffer(named: "Everything"))
    #expect(try buffer.readString() == "text" && buffer.readInt64() == -5)
    #expect(try buffer.readDate() == date)
    #expect(try buffer.read([String: UInt32].self) == ["x": 1, "y": 2])
    #expect(try buffer.readObject(of: Song.self)?.title == "b")
    #expect(try buffer.readObjects(of: Song.self).map(\.title) == ["b", "a", "b"])
    #expect(try (buffer.readAnyObject() as? Song)?.title == "a")
    #expect(try buffer.readAnyObject() == nil && buffer.readObject(of: Song.self) == nil)
    #expect(buffer.remainingCount == 0)
  }

  @Test("An unsaved buffer can be read; the last one that was set counts")
  func pending() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    #expect(try store.buffer(named: "A") == nil)
    try store.setBuffer(named: "A") { $0.write(UInt8(1)) }
    try store.setBuffer(named: "A") { $0.write(UInt8(2)) }
    try store.setBuffer(named: "B") { _ in }
    #expect(store.hasUnsavedChanges)
    #expect(try store.buffer(named: "A")?.bytes == [2])
    #expect(try store.buffer(named: "B")?.bytes == [])
    #expect(try store.bufferNames() == ["A", "B"])
    #expect(try fixture.store().bufferNames() == [])
    try store.saveChanges()
    #expect(!store.hasUnsavedChanges)
    #expect(try fixture.store().buffer(named: "A")?.bytes == [2])
    #expect(try fixture.store().buffer(named: "B")?.bytes == [])
  }

  @Test("A removed name is gone at once here, and on disk with the save")
  func remove() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    try store.setBuffer(named: "A") { $0.write(UInt8(1)) }
    try store.saveChanges()
    try store.removeBuffer(named: "A")
    #expect(store.hasUnsavedChanges)
    #expect(try store.buffer(named: "A") == nil && store.bufferNames() == [])
    #expect(try fixture.store().bufferNames() == ["A"])
    try store.saveChanges()
    #expect(try fixture.store().bufferNames() == [])
    try store.removeBuffer(named: "A")
    #expect(!store.hasUnsavedChanges)
  }

  @Test("Discarding restores the saved buffer of each name")
  func discard() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    try store.setBuffer(named: "A") { $0.write(UInt8(1)) }
    try store.setBuffer(named: "B") { $0.write(UInt8(1)) }
    try store.saveChanges()
    try store.setBuffer(named: "A") { $0.write(UInt8(2)) }
    try store.removeBuffer(named: "B")
    try store.setBuffer(named: "C") { $0.write(UInt8(2)) }
    store.discardChanges()
    #expect(try store.bufferNames() == ["A", "B"] && !store.hasUnsavedChanges)
    #expect(try store.buffer(named: "A")?.bytes == [1])
  }

  @Test("A buffer that can't be written does not change the name")
  func failing() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    try store.setBuffer(named: "A") { $0.write(UInt8(1)) }
    #expect(throws: Stubborn.Refusal.self) {
      try store.setBuffer(named: "A") {
        $0.write(UInt8(2))
        throw Stubborn.Refusal()
      }
    }
    expectStoreError(.notEncodable) {
      try store.setBuffer(named: "A") { $0.write(Song("not inserted", 1)) }
    }
    expectStoreError(.invalidName) { try store.setBuffer(named: "") { _ in } }
    expectStoreError(.invalidName) { _ = try store.buffer(named: "") }
    #expect(try store.buffer(named: "A")?.bytes == [1])
    fixture.backend.failCommits()
    expectStoreError(.ioError) { try store.saveChanges() }
    #expect(store.hasUnsavedChanges)
    try store.saveChanges()
    #expect(try fixture.store().buffer(named: "A")?.bytes == [1])
  }

  @Test("Reading a buffer does not move its position: each call reads from the beginning")
  func independent() throws {
    let fixture = try Fixture()
    let store = try fixture.store()
    try store.setBuffer(named: "A") { $0.write(UInt32(77)) }
    for _ in 0..<2 {
      for _ in 0..<2 {
        var buffer = try #require(try store.buffer(named: "A"))
        #expect(try buffer.readUInt32() == 77)
      }
      try store.saveChanges()
    }
  }

  @Test("Names that look the same and differ in their bytes are two names, saved or not")
  func equivalentNames() throws {
    let names = ["caf\u{E9}", "cafe\u{301}"]
    let fixture = try Fixture()
    let store = try fixture.store()
    for (index, name) in names.enumerated() {
      try store.setBuffer(named: name) { $0.write(UInt32(index)) }
    }
    for _ in 0..<2 {
      for (index, name) in names.enumerated() {
        var buffer = try store.buffer(named: name)
        #expect(try buffer?.readUInt32() == UInt32(index))
      }
      #expect(try store.bufferNames().count == 2)
      try store.saveChanges()
    }
  }
}
