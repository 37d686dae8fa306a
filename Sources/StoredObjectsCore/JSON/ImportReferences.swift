import StoreEngine

/// The references in an import, with the rows that they lead to.
struct ImportReferences: ReferenceWriting {
  let names: ClassNames
  /// Returns whether objects of a class may appear where another class is declared.
  let accepts: (UInt8, String) -> Bool

  /// Whether references are written as nil for now.
  var isOmitting = false
  /// The number of references so far.
  var count = 0
  /// The rows that references lead to, as in the file; nil if they are not collected.
  var seen: [UInt8: RowSet]?
  /// Returns whether an object exists; nil if this is not checked.
  var isKnown: ((UInt8, UInt32) -> Bool)?
  /// The new rows of each class; nil if objects keep their rows.
  var renumbering: [UInt8: Renumbering]?
  /// The large texts of the line, if any.
  var large: LargeTexts<LargeText>?
  /// Stores large values outside of records; nil if objects do that themselves.
  var externals: ImportedExternals?
  /// Stores a large value for an object; nil while values are only checked.
  var store: ((LargeText) throws -> ExternalContent?)?

  init(_ names: ClassNames, accepts: @escaping (UInt8, String) -> Bool) {
    (self.names, self.accepts) = (names, accepts)
  }

  func classID(of className: String) -> UInt8? { names.id(of: className) }

  func whole(_ value: StoredValue) throws -> StoredValue { try large?.whole(value) ?? value }

  func content(of external: StoredValue) throws -> ExternalContent? {
    if case .string(let text) = external, let large = large?.source(of: text) {
      if let externals { return try externals.content(of: large) }
      if let store { return try store(large) }
      // The class only checks that it can read the content, so any value works.
      return try large.forEachDecodedPiece { _ in } ? .inline([]) : nil
    }
    guard let bytes = external.plainBytes else { return nil }
    return try externals?.content(of: bytes) ?? .inline(bytes)
  }

  mutating func location(
    of value: StoredValue, in className: String?
  ) throws -> (classID: UInt8, row: UInt32)? {
    guard let reference = ReferenceText(value) else {
      throw ValueFailure("A reference was expected, as in \"Song/42\", or null.")
    }
    guard let classID = names.id(of: reference.className) else {
      throw ValueFailure("It refers to an object of \"\(reference.className)\": no such class.")
    }
    if let className, className != reference.className, !accepts(classID, className) {
      throw ValueFailure(
        "It refers to a \(reference.className) where only a \(className) can be.")
    }
    count += 1
    seen?[classID, default: RowSet()].insert(reference.rowID)
    if isKnown?(classID, reference.rowID) == false {
      throw ValueFailure(
        "It refers to \(reference.className)/\(reference.rowID), and there is no such object.")
    }
    if isOmitting { return nil }
    guard let renumbering else { return (classID, reference.rowID) }
    guard let row = renumbering[classID]?.row(of: reference.rowID) else { return nil }
    return (classID, row)
  }
}

/// A mapping from the rows of a file to new rows.
struct Renumbering {
  /// The old rows in ascending order, four bytes for each object.
  private let old: [UInt32]
  private let first: UInt32

  init(_ rows: RowSet, count: Int, from first: UInt32) {
    var old: [UInt32] = []
    old.reserveCapacity(count)
    rows.forEach { old.append($0) }
    (self.old, self.first) = (old, first)
  }

  /// Returns the new row, or nil for a row that is not in the file.
  ///
  /// Complexity: O(log n).
  func row(of rowID: UInt32) -> UInt32? {
    var (low, high) = (0, old.count)
    while low < high {
      let middle = (low + high) / 2
      if old[middle] < rowID { low = middle + 1 } else { high = middle }
    }
    return low < old.count && old[low] == rowID ? first + UInt32(low) : nil
  }
}
