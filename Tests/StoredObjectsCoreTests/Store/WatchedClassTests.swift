import StoreEngine
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// A class that writes its records itself and declares nothing.
private enum Plain {
  final class Item: StoredObject {
    @Content var name = ""
    @Content var count: UInt32 = 0
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(count)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      count = try buffer.readUInt32()
    }
  }
}

/// The same bytes with another meaning.
private enum Drifted {
  final class Item: StoredObject {
    @Content var name = ""
    @Content var weight: Float = 0
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(weight)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      weight = try buffer.readFloat()
    }
  }
}

/// The change with a version of its own.
private enum Raised {
  final class Item: StoredObject {
    @Content var name = ""
    @Content var weight: Float = 0
    override class var classVersion: UInt8 { 1 }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(weight)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      weight = buffer.version < 1 ? Float(try buffer.readUInt32()) : try buffer.readFloat()
    }
  }
}

/// The class with a layout, and with its properties the other way round.
private enum Declared {
  final class Item: StoredObject {
    @Content var name = ""
    @Content var count: UInt32 = 0
    override class var layout: ClassLayout? {
      ClassLayout(
        Item.self, [StoredProperty("name", String.self), StoredProperty("count", UInt32.self)])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(name)
      buffer.write(count)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      name = try buffer.readString()
      count = try buffer.readUInt32()
    }
  }
}

private enum Turned {
  final class Item: StoredObject {
    @Content var count: UInt64 = 0
    @Content var name = ""
    override class var layout: ClassLayout? {
      ClassLayout(
        Item.self, [StoredProperty("count", UInt64.self), StoredProperty("name", String.self)])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(count)
      buffer.write(name)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      count = try buffer.readUInt64()
      name = try buffer.readString()
    }
  }
}

/// A layout that is not what the class writes.
private final class Liar: StoredObject {
  @Content var name = ""
  override class var layout: ClassLayout? {
    ClassLayout(
      Liar.self, [StoredProperty("name", String.self), StoredProperty("count", UInt8.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(name) }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
  }
}

/// A subclass that inherits a layout and writes more.
private class Base: StoredObject {
  @Content var name = ""
  override class var layout: ClassLayout? {
    ClassLayout(Base.self, [StoredProperty("name", String.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(name) }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
  }
}

private final class Derived: Base {
  @Content var count: UInt8 = 0
  override func writeContent(to buffer: inout DataBuffer) throws {
    try super.writeContent(to: &buffer)
    buffer.write(count)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    try super.readContent(from: &buffer)
    count = try buffer.readUInt8()
  }
}

@Suite("Handwritten classes and their layouts")
struct WatchedClassTests {
  private func withStore<Value>(
    _ disk: MemoryDisk, _ type: StoredObject.Type, _ body: (Store) throws -> Value
  ) throws -> Value {
    let backend = try MemoryBackend(disk: disk)
    defer { backend.close() }
    let store = Store(backend: backend)
    try store.register(type)
    return try body(store)
  }

  /// A disk with one item of the plain class.
  private func disk() throws -> MemoryDisk {
    let disk = MemoryDisk()
    try withStore(disk, Plain.Item.self) { store throws in
      let item = Plain.Item()
      (item.name, item.count) = ("nail", 9)
      store.insert(item)
      try store.saveChanges()
    }
    return disk
  }

  @Test("A class that writes other types of values without a new version is refused")
  func drift() throws {
    let disk = try disk()
    let error = #expect(throws: StoreError.self) {
      try withStore(disk, Drifted.Item.self) { _ in }
    }
    #expect(error?.code == .changedLayout && error?.location.className == "Item")
    #expect(error?.message.contains("writes String, Float, but") == true)
    #expect(error?.message.contains("wrote String, UInt32.") == true)
    try withStore(disk, Plain.Item.self) { store throws in
      #expect(try #require(try store.object(Plain.Item.self, rowID: 2)).count == 9)
    }
  }

  @Test("With a new version it reads records of the one before")
  func raised() throws {
    let disk = try disk()
    for weight in [9, 2.5] as [Float] {
      try withStore(disk, Raised.Item.self) { store throws in
        let item = try #require(try store.object(Raised.Item.self, rowID: 2))
        #expect(item.name == "nail" && item.weight == weight)
        item.weight = 2.5
        try store.saveChanges()
      }
    }
  }

  @Test("A class that gets a layout later reads by name from then on")
  func declared() throws {
    let disk = try disk()
    try withStore(disk, Declared.Item.self) { store throws in
      let item = try #require(try store.object(Declared.Item.self, rowID: 2))
      #expect(item.name == "nail" && item.count == 9)
      store.insert(Declared.Item())
      try store.saveChanges()
    }
    try withStore(disk, Turned.Item.self) { store throws in
      let items = try store.allObjects(of: Turned.Item.self)
      #expect(items.map(\.count) == [9, 0] && items.map(\.name) == ["nail", ""])
    }
  }

  @Test("A layout that differs from the values that a class writes is refused before reading")
  func invalid() {
    let error = #expect(throws: StoreError.self) {
      try withStore(MemoryDisk(), Liar.self) { _ in }
    }
    #expect(error?.code == .invalidLayout)
  }

  @Test("The layout of a superclass is not that of a subclass that writes more")
  func inherited() throws {
    let disk = MemoryDisk()
    try withStore(disk, Derived.self) { store throws in
      let derived = Derived()
      (derived.name, derived.count) = ("d", 3)
      store.insert(derived)
      try store.saveChanges()
    }
    try withStore(disk, Derived.self) { store throws in
      #expect(try store.object(Derived.self, rowID: 2)?.count == 3)
    }
  }
}
