// References to objects of subclasses, if the reader knows the class.
//
// Row 1 is the row of the class's metadata and never an object. Here it is a marker: a class ID
// follows, for the single object or for each element of a list. Without objects of subclasses there
// is no marker. A reader that does not know the marker refuses row 1 as one that the class has
// never had.

import StoreEngine

extension DataBuffer {
  /// Whether the class of an object can be written where the reader expects another class.
  mutating func mayWriteClass(of entry: RegisteredClass, as type: StoredObject.Type) -> Bool {
    if type != StoredObject.self { return true }
    fail(.wrongClass, "a reference to a \(type) can't name a \(entry.name); writeAny(_:) can")
    return false
  }

  /// Writes the marker and the class ID of a reference with a class.
  mutating func writeClass(_ entry: RegisteredClass) {
    write(ClassMetadata.rowID)
    write(entry.classID)
  }

  /// Rewrites a list, of which a part has been written, with the class of each object.
  @usableFromInline mutating func rewriteWithClasses(_ objects: [StoredObject], from start: Int) {
    truncate(to: start)
    writeCount(objects.count)
    write(ClassMetadata.rowID)
    for object in objects { writeAny(object) }
  }

  /// Whether the next reference, or the first one of a list, is written with its class.
  @usableFromInline var startsWithClass: Bool { nextUInt32 == ClassMetadata.rowID }

  /// Reads a reference to an object of a subclass of a class that is not registered.
  mutating func readOfUnregistered<Object: StoredObject>(
    _ type: Object.Type
  ) throws(DataBufferError) -> Object? {
    if store != nil {
      if nextUInt32 == 0 {
        try skip(4)
        return nil
      }
      if startsWithClass {
        try skip(4)
        return try readElementWithClass()
      }
    }
    _ = try registration(of: type)
    return nil
  }

  /// Reads a list of objects of subclasses of a class that is not registered.
  @usableFromInline mutating func readListOfUnregistered<Object: StoredObject>(
    _ type: Object.Type
  ) throws(DataBufferError) -> [Object] {
    if store != nil {
      let count = try readCount(minimumElementSize: 4)
      if count == 0 { return [] }
      if startsWithClass { return try readListWithClasses(count) }
    }
    _ = try registration(of: type)
    return []
  }

  /// Reads the elements of a list that is written with the class of each.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, also with `countBeyondEnd`: an element has five
  ///   bytes.
  @usableFromInline mutating func readListWithClasses<Object: StoredObject>(
    _ count: Int
  ) throws(DataBufferError) -> [Object] {
    try skip(4)
    var objects: [Object] = []
    objects.reserveCapacity(count)
    for _ in 0..<count { objects.append(try readElementWithClass()) }
    return objects
  }

  /// Reads a reference that consists of a class ID and a row ID.
  mutating func readElementWithClass<Object: StoredObject>() throws(DataBufferError) -> Object {
    let before = offset
    guard let object = try readAnyObject() else {
      throw DataBufferError(.invalidValue, at: before, "a reference with a class leads to row 0")
    }
    if let object = object as? Object { return object }
    throw wrongClass(Swift.type(of: object), Object.self, at: before)
  }

  func wrongClass(
    _ type: StoredObject.Type, _ expected: StoredObject.Type, at offset: Int
  ) -> DataBufferError {
    DataBufferError(
      .wrongClass, at: offset,
      "a reference leads to a \(type.storedName) where only a \(expected.storedName) is allowed")
  }
}
