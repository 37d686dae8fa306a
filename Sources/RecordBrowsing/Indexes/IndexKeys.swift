import Foundation
import StoreEngine
import StoredObjectsCore

// The bytes of values in indexes, from the bytes of values in records.
extension BrowsedState {
  /// Returns the bytes of a value in an index; nil for a type whose keys only its code can make.
  func indexKey(_ bytes: [UInt8], _ type: StoredType, isFolded: Bool) -> [UInt8]? {
    var key = IndexKey()
    var buffer = DataBuffer(bytes)
    do {
      guard try append(&buffer, type, isFolded, to: &key) else { return nil }
      return key.bytes
    } catch { return nil }
  }

  /// Returns the bytes of a reference in an index of a list.
  func indexKey(of object: ObjectAddress) -> [UInt8]? {
    guard let id = (try? browsedClass(object.className))?.metadata?.classID else { return nil }
    var key = IndexKey()
    id.writeKey(to: &key)
    object.rowID.writeKey(to: &key)
    return key.bytes
  }

  private func append(
    _ buffer: inout DataBuffer, _ type: StoredType, _ isFolded: Bool, to key: inout IndexKey
  ) throws -> Bool {
    switch type {
    case .optional(let wrapped):
      let isThere = try buffer.readBool()
      isThere.writeKey(to: &key)
      return isThere ? try append(&buffer, wrapped, isFolded, to: &key) : true
    case .bool: try buffer.readBool().writeKey(to: &key)
    case .integer(let bitCount, let isSigned):
      try Self.appendInteger(&buffer, Int(bitCount), isSigned, to: &key)
    case .float: try buffer.readFloat().writeKey(to: &key)
    case .double: try buffer.readDouble().writeKey(to: &key)
    case .date: try buffer.readDate().writeKey(to: &key)
    case .uuid: try buffer.readUUID().writeKey(to: &key)
    case .data: Data(try buffer.readBytes()).writeKey(to: &key)
    case .string:
      let text = try buffer.readString()
      if isFolded { text.folded.writeKey(to: &key) } else { text.writeKey(to: &key) }
    case .enumeration(let enumeration):
      return try append(&buffer, enumeration.rawType, false, to: &key)
    case .reference, .anyReference: return try appendReference(&buffer, type, to: &key)
    default: return false
    }
    return true
  }

  private func appendReference(
    _ buffer: inout DataBuffer, _ type: StoredType, to key: inout IndexKey
  ) throws -> Bool {
    guard case .string(let text) = try buffer.readPlain(type, PlainReferences(names: classNames))
    else {
      false.writeKey(to: &key)
      return true
    }
    guard let object = ObjectAddress(text),
      let id = (try? browsedClass(object.className))?.metadata?.classID
    else { return false }
    true.writeKey(to: &key)
    id.writeKey(to: &key)
    object.rowID.writeKey(to: &key)
    return true
  }

  private static func appendInteger(
    _ buffer: inout DataBuffer, _ bitCount: Int, _ isSigned: Bool, to key: inout IndexKey
  ) throws {
    switch (bitCount, isSigned) {
    case (8, false): try buffer.readUInt8().writeKey(to: &key)
    case (16, false): try buffer.readUInt16().writeKey(to: &key)
    case (32, false): try buffer.readUInt32().writeKey(to: &key)
    case (_, false): try buffer.readUInt64().writeKey(to: &key)
    case (8, _): try buffer.readInt8().writeKey(to: &key)
    case (16, _): try buffer.readInt16().writeKey(to: &key)
    case (32, _): try buffer.readInt32().writeKey(to: &key)
    default: try buffer.readInt64().writeKey(to: &key)
    }
  }
}
