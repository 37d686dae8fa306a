import StoreEngine

/// The rows that the references in an import lead to.
struct ImportReferences: ReferenceWriting {
  let names: ClassNames
  /// Whether objects of a class can be where another class is declared.
  let accepts: (UInt8, String) -> Bool

  /// Whether references are left out, for the time being.
  var isOmitting = false
  /// The number of references so far.
  var count = 0
  /// The rows that references lead to, as the lines have them; nil where they are not collected.
  var seen: [UInt8: RowSet]?
  /// Whether there is such an object; nil where that is not checked.
  var isKnown: ((UInt8, UInt32) -> Bool)?
  /// The new rows of each class; nil where objects keep theirs.
  var renumbering: [UInt8: Renumbering]?
  /// The large texts of the line; nil for none.
  var large: LargeTexts<LargeText>?
  /// Keeps large values outside of records; nil where objects do that themselves.
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
      // Any value will do for the class to read.
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

/// New rows for those of a file.
struct Renumbering {
  /// In order; four bytes for each object.
  private let old: [UInt32]
  private let first: UInt32

  init(_ rows: RowSet, count: Int, from first: UInt32) {
    var old: [UInt32] = []
    old.reserveCapacity(count)
    rows.forEach { old.append($0) }
    (self.old, self.first) = (old, first)
  }

  /// The new row; nil for one that isn't in the file.
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
