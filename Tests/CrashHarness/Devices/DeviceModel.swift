import StoredObjectsCore

/// An object that only the device that has inserted it edits and deletes.
final class Entry: StoredObject {
  @Content var number = 0
  @Content var device = 0
  @Content var edits = 0

  override class var layout: ClassLayout? {
    ClassLayout(
      Entry.self,
      [
        StoredProperty("number", Int.self), StoredProperty("device", Int.self),
        StoredProperty("edits", Int.self),
      ])
  }
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("number", \Entry.number, isUnique: true)]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    (number, device) = (try buffer.readInt(), try buffer.readInt())
    edits = try buffer.readInt()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    for value in [number, device, edits] { buffer.write(value) }
  }
}

/// The list of all entries, which all devices change.
final class Shelf: StoredObject {
  @Content var entries: ObjectList<Entry> = []

  override class var layout: ClassLayout? {
    ClassLayout(Shelf.self, [StoredProperty("entries", [Entry].self)])
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    entries = try buffer.readList(of: Entry.self)
  }
  override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(entries) }
}

let deviceClasses: [StoredObject.Type] = [Entry.self, Shelf.self]

/// A message of a device to the process that kills it.
struct DeviceMessage {
  enum Kind: Int64 {
    case inserted = 1
    case edited, willDelete, deleted
  }

  let kind: Kind
  /// The number of the entry.
  let number: Int
  /// The number of its edits.
  let edits: Int

  /// Sends the message, in one write.
  func send() { ChildProcess.send(kind.rawValue << 60 | Int64(number) << 20 | Int64(edits)) }

  init(_ kind: Kind, _ entry: Entry) {
    (self.kind, number, edits) = (kind, entry.number, entry.edits)
  }

  init?(_ message: Int64) {
    guard let kind = Kind(rawValue: message >> 60) else { return nil }
    self.kind = kind
    (number, edits) = (Int(message >> 20 & 0xFF_FFFF_FFFF), Int(message & 0xF_FFFF))
  }
}
