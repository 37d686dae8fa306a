import StoreEngine
import StoredObjectsCore

/// The rows of references in values that are written.
struct PlainWriting: ReferenceWriting {
  let state: BrowsedState
  /// Whether each object that is referred to has to exist.
  var checksExistence = true

  mutating func location(
    of value: StoredValue, in className: String?
  ) throws -> (classID: UInt8, row: UInt32)? {
    guard case .string(let text) = value, let address = ObjectAddress(text) else {
      throw ValueFailure("A reference was expected, as in \"Song/42\", or null.")
    }
    guard let known = try? state.browsedClass(address.className), let metadata = known.metadata
    else { throw ValueFailure("There is no class \"\(address.className)\".") }
    if checksExistence, try state.record(address.rowID, known) == nil {
      throw ValueFailure("There is no object \(address).")
    }
    return (metadata.classID, address.rowID)
  }

  func classID(of className: String) -> UInt8? {
    (try? state.browsedClass(className))?.metadata?.classID
  }

  mutating func content(of external: StoredValue) throws -> ExternalContent? {
    throw ValueFailure("Only the program can write values outside of records.")
  }

  func whole(_ value: StoredValue) -> StoredValue { value }
}

extension BrowsedState {
  /// Returns the bytes of a value in a record.
  ///
  /// - Throws: ``/StoreEngine/ValueFailure`` for a value of another type.
  func encoded(_ value: StoredValue, _ type: StoredType, checksExistence: Bool = false) throws
    -> [UInt8]
  {
    var buffer = DataBuffer()
    var references = PlainWriting(state: self, checksExistence: checksExistence)
    try buffer.writePlain(value, as: type, &references)
    if let failure = buffer.failure { throw failure }
    return buffer.bytes
  }
}
