// References under the method names that `DataBuffer+Values` has for all values. The type
// `StoredObject` means that the reader does not know the class. Writing takes the type as an
// argument, because a `Song?` is a `StoredObject?` as well.

import StoreEngine

extension DataBuffer {
  /// Writes a reference to an object of a known class, as `write(_:)` does.
  @inlinable public mutating func writeValue<Object: StoredObject>(
    _ object: Object?, as type: Object?.Type
  ) { write(object) }

  /// Writes references to objects of a known class, in their order, repeats included.
  ///
  /// Complexity: linear in the number of objects.
  @inlinable public mutating func writeValue<Object: StoredObject>(
    _ objects: [Object], as type: [Object].Type
  ) { write(objects) }

  /// Writes references to objects of a known class, in their order, repeats included.
  ///
  /// Complexity: linear in the number of objects; creates no objects for a list that was read.
  public mutating func writeValue<Object: StoredObject>(
    _ objects: ObjectList<Object>, as type: ObjectList<Object>.Type
  ) { write(objects) }

  /// Unavailable: a packed list contains objects of one class and its subclasses.
  @available(*, unavailable, message: "a list of objects of any class is [StoredObject]")
  public mutating func writeValue(
    _ objects: ObjectList<StoredObject>, as type: ObjectList<StoredObject>.Type
  ) {}

  /// Writes references to objects of a known class, in the order of their rows and classes.
  ///
  /// The bytes are those of a sorted list, so that equal sets have equal bytes.
  ///
  /// Complexity: O(n log n) for n objects.
  public mutating func writeValue<Object: StoredObject>(
    _ objects: Set<Object>, as type: Set<Object>.Type
  ) {
    write(
      objects.sorted {
        $0.rowID == $1.rowID ? $0.isOfEarlierClass(than: $1) : $0.rowID < $1.rowID
      })
  }

  /// Writes a reference to an object of any registered class, as `writeAny(_:)` does.
  public mutating func writeValue(_ object: StoredObject?, as type: StoredObject?.Type) {
    writeAny(object)
  }

  /// Writes references to objects of any registered classes, in their order, repeats included.
  ///
  /// Complexity: linear in the number of objects.
  public mutating func writeValue(_ objects: [StoredObject], as type: [StoredObject].Type) {
    writeAny(objects)
  }

  /// Writes references to objects of any registered classes, in no particular order.
  ///
  /// Complexity: linear in the number of objects.
  public mutating func writeValue(_ objects: Set<StoredObject>, as type: Set<StoredObject>.Type) {
    writeAny(Array(objects))
  }
}

extension DataBuffer {
  /// Reads a reference to an object of a known class; no record is read.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readObject(of:)``.
  @inlinable public mutating func readValue<Object: StoredObject>(
    of type: Object?.Type
  ) throws(DataBufferError) -> Object? { try readObject(of: Object.self) }

  /// Reads references to objects of a known class; no record is read.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readObjects(of:)``.
  @inlinable public mutating func readValue<Object: StoredObject>(
    of type: [Object].Type
  ) throws(DataBufferError) -> [Object] { try readObjects(of: Object.self) }

  /// Reads references to objects of a known class without creating the objects.
  ///
  /// Complexity: linear in the number of references: copies four bytes for each.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readList(of:)``.
  @inlinable public mutating func readValue<Object: StoredObject>(
    of type: ObjectList<Object>.Type
  ) throws(DataBufferError) -> ObjectList<Object> { try readList(of: Object.self) }

  /// Unavailable: a packed list contains objects of one class and its subclasses.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, always.
  @available(*, unavailable, message: "a list of objects of any class is [StoredObject]")
  public mutating func readValue(
    of type: ObjectList<StoredObject>.Type
  ) throws(DataBufferError) -> ObjectList<StoredObject> {
    throw DataBufferError(.unknownClass, at: offset, "a packed list has a class of its own")
  }

  /// Reads references to different objects of a known class and its subclasses.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readObjects(of:)``; `invalidValue` for an
  ///   object that occurs twice.
  public mutating func readValue<Object: StoredObject>(
    of type: Set<Object>.Type
  ) throws(DataBufferError) -> Set<Object> {
    let start = offset
    let objects = try readObjects(of: Object.self)
    let isWithClasses = offset - start > 4 + 4 * objects.count
    return try set(of: objects, isWithClasses ? 5 : 4)
  }

  /// Reads a reference to an object of any registered class; no record is read.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readAnyObject()``.
  public mutating func readValue(
    of type: StoredObject?.Type
  ) throws(DataBufferError) -> StoredObject? { try readAnyObject() }

  /// Reads references to objects of any registered classes; no record is read.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readAnyObjects()``.
  public mutating func readValue(
    of type: [StoredObject].Type
  ) throws(DataBufferError) -> [StoredObject] { try readAnyObjects() }

  /// Reads references to different objects of any registered classes.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, see ``readAnyObjects()``; `invalidValue` for an
  ///   object that occurs twice.
  public mutating func readValue(
    of type: Set<StoredObject>.Type
  ) throws(DataBufferError) -> Set<StoredObject> {
    let objects = try readAnyObjects()
    return try set(of: objects, 5)
  }

  /// Unavailable: a reference may be nil.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, always.
  @available(*, unavailable, message: "a stored reference is optional: Song?")
  public mutating func readValue<Object: StoredObject>(
    of type: Object.Type
  ) throws(DataBufferError) -> Object {
    throw DataBufferError(.invalidValue, at: offset, "a reference can be nil")
  }

  /// Returns a set of objects that were just read from references of a size in bytes.
  private func set<Object: StoredObject>(
    of objects: [Object], _ size: Int
  ) throws(DataBufferError) -> Set<Object> {
    var set = Set<Object>(minimumCapacity: objects.count)
    for (index, object) in objects.enumerated() where !set.insert(object).inserted {
      let behind = (objects.count - index) * size
      throw DataBufferError(
        .invalidValue, at: offset - behind, "a set has this object twice")
    }
    return set
  }
}

extension StoredObject {
  /// Whether the object's class has a lower class ID than that of another object.
  fileprivate final func isOfEarlierClass(than other: StoredObject) -> Bool {
    guard let classID = registration?.classID, let otherID = other.registration?.classID else {
      return false
    }
    return classID < otherID
  }
}
