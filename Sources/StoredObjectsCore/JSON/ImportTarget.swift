import StoreEngine

/// A place that objects can be imported to: a store with its classes, or the records of one without.
protocol ImportTarget {
  /// The classes that lines may be of.
  var names: ClassNames { get }

  /// Takes note of the classes of the file.
  mutating func prepare(_ header: JSONHeader) throws

  /// Whether objects of a class can be where another class is declared.
  func accepts(_ classID: UInt8, as className: String) -> Bool

  /// Whether a row has a record.
  func hasRow(_ row: UInt32, _ classID: UInt8) throws -> Bool

  /// The last row of a class that was given out.
  func lastRow(_ classID: UInt8) -> UInt32

  /// Counts all rows up to one as given out.
  mutating func handOut(upTo row: UInt32, _ classID: UInt8)

  /// Takes rows that nobody else gets.
  mutating func reserve(_ count: Int, _ classID: UInt8) throws -> ClosedRange<UInt32>

  /// Finds out whether an object can be made of a line.
  func check(
    _ value: ObjectValue, _ classID: UInt8, _ references: inout ImportReferences
  ) throws

  /// Puts an object into a row, instead of the one that is there, if so.
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
