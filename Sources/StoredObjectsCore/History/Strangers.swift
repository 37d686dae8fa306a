import StoreEngine

/// The objects without a row that an image refers to, by their positions in a list.
///
/// A record can't refer to such objects, but an image may have to: your application may put a new
/// song into a list first, and insert it afterwards.
final class Strangers {
  private(set) var objects: [StoredObject]
  private var rows: [ObjectIdentifier: UInt32] = [:]

  /// The class ID of a stranger for a reader that does not know the class; no class has it.
  static let classID: UInt8 = 255

  /// The references that an image omits.
  enum Omission { case none, deletedElsewhere, deletedAnywhere }

  private let omission: Omission
  /// Whether the image has omitted a reference.
  private(set) var hasOmitted = false

  init(_ objects: [StoredObject] = [], omitting omission: Omission = .none) {
    (self.objects, self.omission) = (objects, omission)
  }

  /// Returns whether the image omits references to an object.
  func omits(_ object: StoredObject) -> Bool {
    guard omission != .none, let entry = object.registration, let store = entry.store else {
      return false
    }
    let isOmitted =
      store.isDeletedElsewhere(object, entry)
      || omission == .deletedAnywhere && object.state.contains(.deleted)
    if isOmitted { hasOmitted = true }
    return isOmitted
  }

  /// Whether the image may omit references.
  var mayOmit: Bool { omission != .none }

  /// Returns the number for an object: a row ID counted from the end, which no row has.
  func row(of object: StoredObject) -> UInt32 {
    let next = UInt32.max - UInt32(objects.count)
    let row = rows[ObjectIdentifier(object), default: next]
    if row == next {
      objects.append(object)
      rows[ObjectIdentifier(object)] = row
    }
    return row
  }

  /// Returns the object for a number.
  func object(_ row: UInt32) -> StoredObject? {
    let index = Int(UInt32.max - row)
    return index < objects.count ? objects[index] : nil
  }
}
