import StoreEngine

extension DataBuffer {
  /// Writes references to objects of a known class, in their order, repeats included.
  ///
  /// The bytes are those of an array. Each object must be inserted in the store and not deleted.
  ///
  /// Complexity: linear in the number of objects; creates no objects for a list that was read.
  @inlinable public mutating func write<Object: StoredObject>(_ list: ObjectList<Object>) {
    writing(.references(Object.storedName)) { buffer in
      switch list.storage {
      case .objects(let objects): buffer.write(objects)
      case .packed(let references):
        // Writing the array finds out which object is wrong, and why.
        if !buffer.writePacked(references) { buffer.write(list.array) }
      }
    }
  }

  /// Writes references as they are; returns false if one of them can't be written.
  @usableFromInline mutating func writePacked(_ references: PackedReferences) -> Bool {
    guard references.entry.store === store, references.firstUnreferable() == nil else {
      return false
    }
    writeCount(references.rowIDs.count)
    if references.classIDs.allSatisfy({ $0 == references.entry.classID }) {
      writeRows(references.rowIDs)
    } else {
      writeRowsWithClasses(references)
    }
    return true
  }

  /// Reads references to objects of a known class and its subclasses, in order, repeats included.
  ///
  /// Creates none of the objects.
  ///
  /// Complexity: linear in the number of references: copies four bytes for each.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` with `endOfBuffer`, `countBeyondEnd`,
  ///   `invalidValue` (a reference to nil), `unknownRow`, `unknownClass`, `wrongClass` or
  ///   `noStore`.
  public mutating func readList<Object: StoredObject>(
    of type: Object.Type
  ) throws(DataBufferError) -> ObjectList<Object> {
    guard let entry = registrationIfThere(type) else {
      return ObjectList(try readListOfUnregistered(type))
    }
    let count = try readCount(minimumElementSize: 4)
    if count > 0, startsWithClass { return try readPackedWithClasses(count, entry) }
    let start = offset
    let rowIDs = readRows(count)
    let last = entry.shared.lastRowID
    if let index = rowIDs.firstIndex(where: { $0 <= ClassMetadata.rowID || $0 > last }) {
      if store?.strangers != nil {
        position = self.start + start - 4
        return ObjectList(try readObjects(of: type))
      }
      position = self.start + start
      throw unknownRow(rowIDs[index], entry, at: start + 4 * index)
    }
    if let recorder = store?.referenceRecorder {
      for (index, rowID) in rowIDs.enumerated() {
        recorder.note(entry.classID, rowID, at: start + 4 * index)
      }
    }
    entry.faultsAhead?.noteRead(rowIDs)
    return ObjectList(packed: PackedReferences(entry, rowIDs))
  }

  /// Reads the elements of a list that is written with the class of each.
  private mutating func readPackedWithClasses<Object: StoredObject>(
    _ count: Int, _ entry: RegisteredClass
  ) throws(DataBufferError) -> ObjectList<Object> {
    if store?.strangers != nil { return ObjectList(try readListWithClasses(count)) }
    try skip(4)
    var (rowIDs, classIDs): ([UInt32], [UInt8]) = ([], [])
    rowIDs.reserveCapacity(count)
    classIDs.reserveCapacity(count)
    var (last, subclasses): (RegisteredClass?, [RegisteredClass]) = (nil, [])
    for _ in 0..<count {
      let classID = try readUInt8()
      if last?.classID != classID {
        let subclass = try subclass(classID, of: entry)
        if !subclasses.contains(where: { $0 === subclass }) { subclasses.append(subclass) }
        last = subclass
      }
      let rowID = try readUInt32()
      guard let last, last.mayHave(rowID) else {
        throw unknownRow(rowID, last ?? entry, at: offset - 4)
      }
      store?.referenceRecorder?.note(classID, rowID, at: offset - 4)
      rowIDs.append(rowID)
      classIDs.append(classID)
    }
    return ObjectList(
      packed: PackedReferences(
        entry, rowIDs, classIDs: classIDs, subclasses: subclasses.filter { $0 !== entry }))
  }

  /// Returns the class of an ID that was just read, which must be the list's class or a subclass.
  private func subclass(
    _ classID: UInt8, of entry: RegisteredClass
  ) throws(DataBufferError) -> RegisteredClass {
    guard let other = store?.registration(classID: classID) else {
      throw unknownClass(classID, at: offset - 1)
    }
    if other.isKind(of: entry.type) { return other }
    throw wrongClass(other.type, entry.type, at: offset - 1)
  }

  /// Writes row IDs with the class ID of each.
  private mutating func writeRowsWithClasses(_ references: PackedReferences) {
    write(ClassMetadata.rowID)
    for (classID, rowID) in zip(references.classIDs, references.rowIDs) {
      write(classID)
      write(rowID)
    }
  }

  private func unknownRow(
    _ rowID: UInt32, _ entry: RegisteredClass, at offset: Int
  ) -> DataBufferError {
    rowID == 0
      ? DataBufferError(.invalidValue, at: offset, "a list holds the row 0")
      : DataBufferError(.unknownRow, at: offset, "\(entry.name) has never had a row \(rowID)")
  }
}
