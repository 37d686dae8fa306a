// If the reader knows the class, a reference is a row ID (4 bytes, 0 for nil). Otherwise it is a
// class ID and a row ID (5 bytes, both 0 for nil). For an object of a subclass of the known class,
// see `DataBuffer+SubclassReferences`. Reading a reference reads no record: it returns the object
// if it is in memory, and a fault if not.

import StoreEngine

extension DataBuffer {
  /// Writes a reference to an object whose class the reader knows; nil is row 0.
  ///
  /// The object must be inserted in the store and not deleted. An object of a subclass takes five
  /// bytes more.
  @inlinable public mutating func write<Object: StoredObject>(_ object: Object?) {
    writing(.reference(Object.storedName)) { buffer in
      guard let object else { return buffer.write(UInt32(0)) }
      buffer.writeReference(object, as: Object.self)
    }
  }

  /// Writes references to objects of a known class, in their order, repeats included.
  ///
  /// Each object must be inserted in the store and not deleted. A list that contains an object of a
  /// subclass takes one more byte for each element, and four more bytes for the list.
  ///
  /// Complexity: linear in the number of objects.
  @inlinable public mutating func write<Object: StoredObject>(_ objects: [Object]) {
    writing(.references(Object.storedName)) { buffer in
      let objects = buffer.withoutOmitted(objects)
      let start = buffer.byteCount
      buffer.writeCount(objects.count)
      let entry = buffer.registrationForWriting(Object.self)
      for object in objects where !buffer.writeReference(object, to: entry, as: Object.self) {
        return buffer.rewriteWithClasses(objects, from: start)
      }
    }
  }

  /// Returns the objects of a list that are written: all of them, except for some in an image.
  @usableFromInline func withoutOmitted<Object: StoredObject>(_ objects: [Object]) -> [Object] {
    guard let strangers = store?.strangers, strangers.mayOmit else { return objects }
    return objects.filter { !strangers.omits($0) }
  }

  /// Returns the registration of a class; nil if each of its objects has to be checked.
  @usableFromInline func registrationForWriting(_ type: StoredObject.Type) -> RegisteredClass? {
    guard let entry = store?.registration(of: type),
      store?.foreign.hasDeleted(entry.classID) == false
    else { return nil }
    return entry
  }

  /// Writes one of many references; returns false for an object of a subclass.
  @inlinable @inline(__always)
  mutating func writeReference(
    _ object: StoredObject, to entry: RegisteredClass?, as type: StoredObject.Type
  ) -> Bool {
    if let entry, object.registration === entry, !object.state.contains(.deleted) {
      write(object.rowID)
      return true
    }
    return writeElement(object, as: type)
  }

  @usableFromInline mutating func writeElement(
    _ object: StoredObject, as type: StoredObject.Type
  ) -> Bool {
    guard let entry = registration(of: object) else {
      writeStranger(object)
      return true
    }
    if entry.type != type, mayWriteClass(of: entry, as: type) { return false }
    write(object.rowID)
    return true
  }

  @usableFromInline mutating func writeReference(
    _ object: StoredObject, as type: StoredObject.Type
  ) {
    if store?.strangers?.omits(object) == true { return write(UInt32(0)) }
    guard let entry = registration(of: object) else { return writeStranger(object) }
    if entry.type != type, mayWriteClass(of: entry, as: type) { writeClass(entry) }
    write(object.rowID)
  }

  /// Writes a reference to an object of any registered class; nil is class 0, row 0.
  public mutating func writeAny(_ object: StoredObject?) {
    writing(.anyReference) { $0.appendAny(object) }
  }

  private mutating func appendAny(_ object: StoredObject?) {
    guard let object, store?.strangers?.omits(object) != true else {
      write(UInt8(0))
      return write(UInt32(0))
    }
    guard let entry = registration(of: object) else { return writeAnyStranger(object) }
    write(entry.classID)
    write(object.rowID)
  }

  /// Writes references to objects of any registered classes, in their order, repeats included.
  ///
  /// Complexity: linear in the number of objects.
  public mutating func writeAny(_ objects: [StoredObject]) {
    writing(.anyReferences) { buffer in
      let objects = buffer.withoutOmitted(objects)
      buffer.writeCount(objects.count)
      for object in objects { buffer.appendAny(object) }
    }
  }

  /// Returns the registration of an object that may be referred to, or sets the buffer's failure.
  private mutating func registration(of object: StoredObject) -> RegisteredClass? {
    guard let store else {
      fail(.noStore, "a reference needs a buffer that belongs to a store")
      return nil
    }
    guard let entry = object.registration, entry.store === store else {
      if store.strangers != nil { return nil }
      fail(
        .notInserted,
        "a reference leads to a \(type(of: object)) that is not in this store: insert it first")
      return nil
    }
    guard !object.state.contains(.deleted) || store.strangers != nil else {
      fail(
        .notInserted,
        """
        a reference leads to \(entry.name) row \(object.rowID), which is deleted: remove the \
        reference first
        """)
      return nil
    }
    if store.strangers == nil, store.isDeletedElsewhere(object, entry) {
      fail(
        .deletedElsewhere,
        "a reference leads to \(entry.name) row \(object.rowID), which another store has deleted")
      return nil
    }
    return entry
  }

  private mutating func writeStranger(_ object: StoredObject) {
    if let strangers = store?.strangers { write(strangers.row(of: object)) }
  }

  private mutating func writeAnyStranger(_ object: StoredObject) {
    guard let strangers = store?.strangers else { return }
    write(Strangers.classID)
    write(strangers.row(of: object))
  }
}

extension DataBuffer {
  /// Reads a reference to an object of a known class or a subclass; row 0 is nil.
  ///
  /// Reads no record.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` with `endOfBuffer`, `unknownRow`, `unknownClass`,
  ///   `notRegistered`, `wrongClass` or `noStore`.
  public mutating func readObject<Object: StoredObject>(
    of type: Object.Type
  ) throws(DataBufferError) -> Object? {
    guard let entry = registrationIfThere(type) else { return try readOfUnregistered(type) }
    let rowID = try readUInt32()
    if rowID == 0 { return nil }
    if rowID == ClassMetadata.rowID { return try readElementWithClass() }
    return try object(rowID, entry) as? Object
  }

  /// Reads references to objects of a known class and its subclasses, in order, repeats included.
  ///
  /// Reads no record.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` with `endOfBuffer`, `countBeyondEnd`,
  ///   `invalidValue` (a reference to nil), `unknownRow`, `unknownClass`, `notRegistered`,
  ///   `wrongClass` or `noStore`.
  @inlinable public mutating func readObjects<Object: StoredObject>(
    of type: Object.Type
  ) throws(DataBufferError) -> [Object] {
    guard let entry = registrationIfThere(type) else { return try readListOfUnregistered(type) }
    let count = try readCount(minimumElementSize: 4)
    if count > 0, startsWithClass { return try readListWithClasses(count) }
    var objects: [Object] = []
    objects.reserveCapacity(count)
    for _ in 0..<count {
      guard let object = try readReference(entry) as? Object else { throw rowZeroInList }
      objects.append(object)
    }
    return objects
  }

  @usableFromInline var rowZeroInList: DataBufferError {
    DataBufferError(.invalidValue, at: offset - 4, "a list holds the row 0")
  }

  /// Reads a reference to an object of any registered class; class 0, row 0 is nil.
  ///
  /// Reads no record.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` with `endOfBuffer`, `unknownRow`, `unknownClass`,
  ///   `notRegistered` or `noStore`.
  public mutating func readAnyObject() throws(DataBufferError) -> StoredObject? {
    guard let store else { throw noStore }
    let before = offset
    let classID = try readUInt8()
    if classID == Strangers.classID, let strangers = store.strangers {
      return strangers.object(try readUInt32())
    }
    if let entry = store.registration(classID: classID) {
      return try readReference(entry)
    }
    // A nil reference has no class.
    guard classID == 0, try readUInt32() == 0 else {
      throw unknownClass(classID, at: before)
    }
    return nil
  }

  /// Returns the error for a class ID that belongs to no class, or to one that is not registered.
  func unknownClass(_ classID: UInt8, at offset: Int) -> DataBufferError {
    let saved = (try? store?.savedClassIDs()) ?? [:]
    guard let name = saved.first(where: { $0.value == classID })?.key else {
      return DataBufferError(.unknownClass, at: offset, "no class has the ID \(classID)")
    }
    return notRegistered(name, at: offset)
  }

  private func notRegistered(_ name: String, at offset: Int) -> DataBufferError {
    DataBufferError(.notRegistered, at: offset, "\(name) is not registered with the store")
  }

  /// Reads references to objects of any registered classes, in their order, repeats included.
  ///
  /// Reads no record.
  ///
  /// Complexity: linear in the number of references.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` with `endOfBuffer`, `countBeyondEnd`,
  ///   `invalidValue` (a reference to nil), `unknownRow`, `unknownClass`, `notRegistered` or
  ///   `noStore`.
  public mutating func readAnyObjects() throws(DataBufferError) -> [StoredObject] {
    let count = try readCount(minimumElementSize: 5)
    var objects: [StoredObject] = []
    objects.reserveCapacity(count)
    for _ in 0..<count {
      guard let object = try readAnyObject() else {
        throw DataBufferError(.invalidValue, at: offset - 5, "a list holds the row 0")
      }
      objects.append(object)
    }
    return objects
  }

  @usableFromInline mutating func readReference(
    _ entry: RegisteredClass
  ) throws(DataBufferError) -> StoredObject? {
    let rowID = try readUInt32()
    return rowID == 0 ? nil : try object(rowID, entry)
  }

  /// Returns the object of a row whose ID was just read.
  @inline(__always)
  private func object(
    _ rowID: UInt32, _ entry: RegisteredClass
  ) throws(DataBufferError) -> StoredObject {
    guard entry.mayHave(rowID) else {
      if let stranger = store?.strangers?.object(rowID) { return stranger }
      throw DataBufferError(
        .unknownRow, at: offset - 4, "\(entry.name) has never had a row \(rowID)")
    }
    store?.referenceRecorder?.note(entry.classID, rowID, at: offset - 4)
    return entry.object(rowID)
  }

  @usableFromInline func registrationIfThere(_ type: StoredObject.Type) -> RegisteredClass? {
    store?.registration(of: type)
  }

  func registration(
    of type: StoredObject.Type
  ) throws(DataBufferError) -> RegisteredClass {
    guard let store else { throw noStore }
    guard let entry = store.registration(of: type) else {
      throw notRegistered("\(type)", at: offset)
    }
    return entry
  }

  private var noStore: DataBufferError {
    DataBufferError(.noStore, at: offset, "a reference needs a buffer that belongs to a store")
  }
}
