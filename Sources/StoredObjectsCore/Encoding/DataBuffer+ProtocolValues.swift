// References of a protocol type, which are references to an object of any class. Only the program
// knows which stored classes conform.

import StoreEngine

extension DataBuffer {
  /// Writes a reference to an object of any registered class that conforms to a protocol.
  ///
  /// The bytes are those of a `StoredObject?`. A value that is not an object sets `failure` to
  /// `wrongClass`.
  public mutating func writeValue<Value>(_ value: Value?, asAny type: Value?.Type) {
    guard let value else { return writeAny(nil) }
    if let object = stored(value) { writeAny(object) }
  }

  /// Writes references to objects of registered classes that conform to a protocol.
  ///
  /// Keeps their order and repeats. The bytes are those of a `[StoredObject]`.
  ///
  /// Complexity: linear in the number of objects.
  public mutating func writeValue<Value>(_ values: [Value], asAny type: [Value].Type) {
    writeAny(values.compactMap { stored($0) })
  }

  private mutating func stored<Value>(_ value: Value) -> StoredObject? {
    if let object = value as? StoredObject { return object }
    fail(
      .wrongClass,
      "a \(Swift.type(of: value)) is not a StoredObject, so nothing can refer to it")
    return nil
  }

  /// Reads a reference to an object of any registered class that conforms to a protocol.
  ///
  /// Reads no record.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readAnyObject()``; `wrongClass` for an
  ///   object that does not conform.
  public mutating func readValue<Value>(
    ofAny type: Value?.Type
  ) throws(DataBufferError) -> Value? {
    let before = offset
    guard let object = try readAnyObject() else { return nil }
    return try conforming(object, at: before)
  }

  /// Reads references to objects of registered classes that conform to a protocol.
  ///
  /// Keeps their order and repeats. Reads no record.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readAnyObjects()``; `wrongClass` for an
  ///   object that does not conform.
  public mutating func readValue<Value>(
    ofAny type: [Value].Type
  ) throws(DataBufferError) -> [Value] {
    let objects = try readAnyObjects()
    var values: [Value] = []
    values.reserveCapacity(objects.count)
    for (index, object) in objects.enumerated() {
      values.append(try conforming(object, at: offset - 5 * (objects.count - index)))
    }
    return values
  }

  private func conforming<Value>(
    _ object: StoredObject, at offset: Int
  ) throws(DataBufferError) -> Value {
    if let value = object as? Value { return value }
    throw DataBufferError(
      .wrongClass, at: offset, "\(Swift.type(of: object)) does not conform to \(Value.self)")
  }
}
