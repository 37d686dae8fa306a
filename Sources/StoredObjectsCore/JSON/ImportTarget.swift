import StoreEngine

/// The target of an import: a store with its classes, or the records of a store without classes.
protocol ImportTarget {
  /// The classes that lines may have.
  var names: ClassNames { get }

  /// Reads the classes of the file.
  mutating func prepare(_ header: JSONHeader) throws

  /// Returns whether objects of a class may appear where another class is declared.
  func accepts(_ classID: UInt8, as className: String) -> Bool

  /// Returns whether a row has a record.
  func hasRow(_ row: UInt32, _ classID: UInt8) throws -> Bool

  /// Returns the last row ID that a class has used.
  func lastRow(_ classID: UInt8) -> UInt32

  /// Marks all row IDs up to one as used.
  mutating func handOut(upTo row: UInt32, _ classID: UInt8)

  /// Reserves rows.
  mutating func reserve(_ count: Int, _ classID: UInt8) throws -> ClosedRange<UInt32>

  /// Checks the values and references of a line.
  func check(
    _ value: ObjectValue, _ classID: UInt8, _ references: inout ImportReferences
  ) throws

  /// Has the class read the content of a line, as a check.
  func checkContent(
    _ value: ObjectValue, _ classID: UInt8, _ references: ImportReferences
  ) throws

  /// Puts an object into a row; it may replace another.
  mutating func put(
    _ value: ObjectValue, _ classID: UInt8, _ row: UInt32, replaces: Bool,
    _ references: inout ImportReferences
  ) throws

  /// Returns whether to set the references of a class after all objects are inserted.
  func setsReferencesLast(_ classID: UInt8) -> Bool

  /// Saves the objects that were put.
  mutating func save() throws

  /// Discards the objects that were put and not saved.
  mutating func discard()
}

extension ImportTarget {
  /// The highest row ID that an import uses: one in sixteen is kept for new objects.
  private var highestRowID: UInt32 { .max - (1 << 28) }

  /// Checks that a row ID leaves enough IDs for new objects of the class.
  func checkRowID(_ row: UInt32, _ classID: UInt8) throws {
    guard row > highestRowID, row > lastRow(classID) else { return }
    throw StoreError(
      .rowIDsExhausted,
      """
      The row ID \(row) would leave too few for new objects: use IDs up to \(highestRowID), or give \
      new IDs.
      """, at: .init(className: names.name(of: classID), rowID: row))
  }
}
