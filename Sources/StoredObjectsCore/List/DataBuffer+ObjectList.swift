import StoreEngine

extension DataBuffer {
  /// Writes references to objects of one class, in their order, repeats included: as an array of
  /// them is written.
  ///
  /// Each object must be inserted in the store, not deleted, and of exactly the class `Object`.
  ///
  /// Complexity: linear in the number of objects; of a list that was read, none is made.
  @inlinable public mutating func write<Object: StoredObject>(_ list: ObjectList<Object>) {
    writing(.references(Object.storedName)) { buffer in
      switch list.storage {
      case .objects(let objects): buffer.write(objects)
      case .packed(let references):
        // The array says what is wrong with which object.
        if !buffer.writePacked(references) { buffer.write(list.array) }
      }
    }
  }

  /// Writes references as they are; false when one of them can't be.
  @usableFromInline mutating func writePacked(_ references: PackedReferences) -> Bool {
    guard references.entry.store === store, references.firstUnreferable() == nil else {
      return false
    }
    writeCount(references.rowIDs.count)
    writeRows(references.rowIDs)
    return true
  }

  /// Reads references to objects of a known class, in their order, repeats included, and makes none
  /// of the objects.
  ///
  /// Complexity: linear in the number of references: a copy of four bytes each.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd`, `invalidValue` (a
  ///   reference to nil), `unknownRow`, `unknownClass` or `noStore`.
  public mutating func readList<Object: StoredObject>(
    of type: Object.Type
  ) throws(DataBufferError) -> ObjectList<Object> {
    let entry = try registration(of: type)
    let count = try readCount(minimumElementSize: 4)
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
    return ObjectList(packed: PackedReferences(entry, rowIDs))
  }

  private func unknownRow(
    _ rowID: UInt32, _ entry: RegisteredClass, at offset: Int
  ) -> DataBufferError {
    rowID == 0
      ? DataBufferError(.invalidValue, at: offset, "a list holds the row 0")
      : DataBufferError(.unknownRow, at: offset, "\(entry.name) has never had a row \(rowID)")
  }
}
