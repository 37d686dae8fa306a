import StoredObjectsCore
import Synchronization

/// An object of a graph: references of every kind, and delete rules that can be switched on.
final class Node: StoredObject {
  @Content var name = ""
  @Content var next: Node?
  @Content var children: [Node] = []
  @Content var anything: StoredObject?
  @Content var mixed: [StoredObject] = []
  /// Whether deleting the node deletes its children and the next one.
  var cascades = false

  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(next)
    buffer.write(children)
    buffer.writeAny(anything)
    buffer.writeAny(mixed)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    next = try buffer.readObject(of: Node.self)
    children = try buffer.readObjects(of: Node.self)
    anything = try buffer.readAnyObject()
    mixed = try buffer.readAnyObjects()
  }
  override func prepareForDelete() {
    guard cascades else { return }
    for child in children { store?.delete(child) }
    if let next { store?.delete(next) }
    (next, children) = (nil, [])
  }
  override func dissolveAllRelationships() {
    (next, children, anything, mixed) = (nil, [], nil, [])
  }
}

/// A class that can throw, or do something that is not allowed, while it is written.
final class Stubborn: StoredObject {
  struct Refusal: Error {}
  @Content var number: UInt32 = 0
  var whileWriting: ((inout DataBuffer) throws -> Void)?

  convenience init(_ number: UInt32) {
    self.init()
    self.number = number
  }
  override func writeContent(to buffer: inout DataBuffer) throws {
    try whileWriting?(&buffer)
    buffer.write(number)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
  }
}

/// Counts its living instances.
///
/// Only ``UniquingTests`` makes any, one test at a time.
final class Counted: StoredObject {
  static let living = Atomic(0)
  @Content var number: UInt32 = 0
  @Content var other: Counted?

  required init() {
    super.init()
    Self.living.wrappingAdd(1, ordering: .relaxed)
  }
  deinit { Self.living.wrappingSubtract(1, ordering: .relaxed) }

  static var count: Int { living.load(ordering: .relaxed) }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(other)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
    other = try buffer.readObject(of: Counted.self)
  }
  override func dissolveAllRelationships() { other = nil }
}

/// Two versions of one class, as two programs would have them.
class LetterBase: StoredObject {
  @Content final var text = ""
  @Content final var stamp: UInt8 = 0
  /// The version that the record was read with.
  final var readVersion: UInt8?
  override class var storedName: String { "Letter" }
}

final class OldLetter: LetterBase {
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
  override func readContent(from buffer: inout DataBuffer) throws {
    readVersion = buffer.version
    text = try buffer.readString()
  }
}

final class NewLetter: LetterBase {
  override class var classVersion: UInt8 { 3 }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(stamp)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    readVersion = buffer.version
    text = try buffer.readString()
    if buffer.version >= 3 { stamp = try buffer.readUInt8() }
  }
}
