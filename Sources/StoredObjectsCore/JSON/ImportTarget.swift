import StoreEngine

/// The target of an import: a store with its classes, or the records of one without.
protocol ImportTarget {
  /// The classes that lines may be of.
  var names: ClassNames { get }

  /// Learns the classes of the file.
  mutating func prepare(_ header: JSONHeader) throws

  /// Whether objects of a class can be where another class is declared.
  func accepts(_ classID: UInt8, as className: String) -> Bool

  /// Whether a row has a record.
  func hasRow(_ row: UInt32, _ classID: UInt8) throws -> Bool

  /// The last row of a class that was handed out.
  func lastRow(_ classID: UInt8) -> UInt32

  /// Counts all rows up to one as handed out.
  mutating func handOut(upTo row: UInt32, _ classID: UInt8)

  /// Reserves rows.
  mutating func reserve(_ count: Int, _ classID: UInt8) throws -> ClosedRange<UInt32>

  /// Checks the values and references of a line.
  func check(
    _ value: ObjectValue, _ classID: UInt8, _ references: inout ImportReferences
  ) throws

  /// Lets the class read the content of a line.
  func checkContent(
    _ value: ObjectValue, _ classID: UInt8, _ references: ImportReferences
  ) throws

  /// Puts an object into a row; it may replace another one.
  mutating func put(
    _ value: ObjectValue, _ classID: UInt8, _ row: UInt32, replaces: Bool,
    _ references: inout ImportReferences
  ) throws

  /// Whether the references of a class are to be set once all objects are there.
  func setsReferencesLast(_ classID: UInt8) -> Bool

  /// Saves what was put.
  mutating func save() throws

  /// Forgets what was put and not saved.
  mutating func discard()
}

extension ImportTarget {
  /// The highest row ID that an import uses: one in sixteen is left for new objects.
  private var highestRowID: UInt32 { .max - (1 << 28) }

  /// Refuses a row ID that would use up those of a class.
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
