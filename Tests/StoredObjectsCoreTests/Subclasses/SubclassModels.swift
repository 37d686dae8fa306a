import FoundationEssentials
import StoredObjectsCore
import StoredObjectsTestSupport

/// A class that has subclasses.
class Act: StoredObject {
  @Content var name = ""
  @Content var minutes = 0
  /// The other side of ``Bill/acts``.
  @Content var bills: [Bill] = []

  convenience init(_ name: String, _ minutes: Int = 0) {
    self.init()
    self.name = name
    self.minutes = minutes
  }

  override class var indexes: [AttributeIndex] { [AttributeIndex("name", \Act.name)] }

  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    minutes = try buffer.readInt()
    bills = try buffer.readObjects(of: Bill.self)
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    buffer.write(name)
    buffer.write(minutes)
    buffer.write(bills)
  }
}

class LiveAct: Act {
  @Content var venue = ""

  override func readContent(from buffer: inout DataBuffer) throws {
    try super.readContent(from: &buffer)
    venue = try buffer.readString()
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    try super.writeContent(to: &buffer)
    buffer.write(venue)
  }
}

/// A subclass of a subclass.
final class Encore: LiveAct {}

/// Refers to acts in every way.
final class Show: StoredObject {
  @Content var lead: Act?
  @Content var acts: [Act] = []
  @Content var packed: ObjectList<Act> = []
  @Content var picks: Set<Act> = []

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("lead", \Show.lead), AttributeIndex("acts", toMany: \Show.acts)]
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    lead = try buffer.readObject(of: Act.self)
    acts = try buffer.readObjects(of: Act.self)
    packed = try buffer.readList(of: Act.self)
    picks = try buffer.readValue(of: Set<Act>.self)
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    buffer.write(lead)
    buffer.write(acts)
    buffer.write(packed)
    buffer.writeValue(picks, as: Set<Act>.self)
  }
}

/// A list of acts with another side.
final class Bill: StoredObject {
  @Content var acts: ObjectList<Act> = []

  override class var relationships: [Relationship] {
    [Relationship(\Bill.acts, inverse: \Act.bills)]
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    acts = try buffer.readList(of: Act.self)
  }

  override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(acts) }
}

let actClasses: [StoredObject.Type] = [
  Act.self, Show.self, LiveAct.self, Bill.self, Encore.self,
]

/// A store of acts on a disk in memory, without checksums.
func actStore(
  _ disk: MemoryDisk, _ classes: [StoredObject.Type] = actClasses
) throws -> Store {
  let store = Store(
    backend: try MemoryBackend(disk: disk), configuration: .init(checksumsRecords: false))
  try store.register(classes)
  return store
}

extension Store {
  /// Inserts objects and saves them.
  func save(_ objects: StoredObject...) throws {
    for object in objects { insert(object) }
    try saveChanges()
  }

  /// The record of an object in hex.
  func record(_ object: StoredObject) throws -> String {
    let table = try backend.table(named: type(of: object).storedName)
    return DataBuffer(try backend.record(object.rowID, in: table) ?? []).hex
  }

  /// A store that has the same disk as another process would find it.
  func reopened(_ disk: MemoryDisk) throws -> Store {
    try backend.close()
    return try actStore(disk)
  }
}
