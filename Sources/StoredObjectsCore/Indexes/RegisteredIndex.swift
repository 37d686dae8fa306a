import Files
import StoreEngine

/// An index of a class that is registered with a store.
///
/// Its ordered table has a key for each object: 1, the values, and the row ID (4 bytes,
/// big-endian). For an object whose record can't be read, the key is 2 and the row ID. The key 0 is
/// the *stamp*, whose value identifies how the index was built.
///
/// It is a class because queries pass it around often.
final class RegisteredIndex {
  static let stampKey = IndexStamp.key
  /// The first byte of the keys of objects.
  static let mark: UInt8 = 1
  /// The first byte of the keys of objects whose records can't be read.
  static let leftOutMark: UInt8 = 2
  static let rowSize = 4

  let declaration: AttributeIndex
  let table: OrderedTableID
  let firstProperty: AnyKeyPath?
  /// The stamp of a complete index.
  let stamp: [UInt8]
  /// The commit count of the class when the index was last complete; nil before the first check.
  var commitCountWhenWhole: UInt64?

  init(
    _ declaration: AttributeIndex, _ table: OrderedTableID, of type: StoredObject.Type,
    _ layouts: ClassLayouts
  ) {
    (self.declaration, self.table) = (declaration.inherited(by: type), table)
    firstProperty = self.declaration.properties.first
    // How the class reads records of earlier versions is its own code, which may change with it.
    let text = "1 \(layouts.contentVersion) \(declaration.isMultiple) \(declaration.signature)"
    stamp = Array(text.utf8)
  }

  /// Returns the keys of an object as the table contains them, in ascending order.
  func keys(of object: StoredObject) -> [[UInt8]] {
    declaration.keys(object).map { Self.key($0.bytes, row: object.rowID) }
  }

  /// Returns the key of an object in a unique index; nil if one of its values equals no other.
  func uniqueKey(of object: StoredObject) -> [UInt8]? {
    declaration.keys(object).first.flatMap { $0.isExempt ? nil : $0.bytes }
  }

  /// Visits the saved rows with some values in ascending order, until the closure returns false.
  func forEachRow(
    _ values: [UInt8], _ backend: any StoreBackend, _ isWanted: (UInt32) -> Bool
  ) throws(StoreError) {
    _ = try backend.scanKeys(of: table, Self.range(of: values), isReversed: false) { key, _ in
      isWanted(Self.row(key)) ? .next : .pause
    }
  }

  /// Returns the error of a save that would give a row the values of another row.
  ///
  /// Its location has the name of the index as the property.
  func notUnique(_ entry: RegisteredClass, _ row: UInt32, _ other: UInt32) -> StoreError {
    var location = entry.location(row)
    location.property = declaration.name
    location.otherRowID = other
    return StoreError(
      .notUnique,
      """
      Row \(other) has the same values in the unique index "\(declaration.name)": change one of \
      them, delete one, or use insertOrUpdate(_:).
      """,
      at: location)
  }

  /// Returns the range of the keys of all objects with some values.
  static func range(of values: [UInt8]) -> KeyRange { .prefix([mark] + values) }

  static func key(_ values: [UInt8], row: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(values.count + 1 + rowSize)
    appendKey(values, row: row, to: &key)
    return key
  }

  /// Appends the key for some values and a row.
  static func appendKey(_ values: [UInt8], row: UInt32, to bytes: inout [UInt8]) {
    bytes.append(mark)
    bytes += values
    bytes.append(bigEndian: row)
  }

  /// Returns the key of a row whose record can't be read.
  static func leftOutKey(_ row: UInt32) -> [UInt8] {
    var key = [leftOutMark]
    key.append(bigEndian: row)
    return key
  }

  /// Returns the keys of a row whose record can't be read, so that its values are unknown.
  ///
  /// Complexity: constant time if the row was left out; linear in the number of keys if its record
  /// was damaged later.
  func keys(ofUnreadable row: UInt32, _ backend: any StoreBackend) throws(StoreError) -> [[UInt8]] {
    let leftOut = Self.leftOutKey(row)
    if try backend.withValue(of: leftOut, in: table, { _ in true }) == true { return [leftOut] }
    var keys: [[UInt8]] = []
    _ = try backend.scanKeys(of: table, .prefix([Self.mark]), isReversed: false) { key, _ in
      if Self.row(key) == row { keys.append([UInt8](copying: key)) }
      return .next
    }
    return keys
  }

  /// Returns the row ID at the end of a key.
  static func row(_ key: RawSpan) -> UInt32 {
    key.loadUInt32(at: key.byteCount - rowSize, isBigEndian: true)
  }

  /// Whether the table has the keys of all objects of its class.
  func isReady(_ backend: any StoreBackend) throws(StoreError) -> Bool {
    try backend.withValue(of: Self.stampKey, in: table) { $0.hasSameBytes(as: stamp) } ?? false
  }
}

extension RawSpan {
  func hasSameBytes(as bytes: [UInt8]) -> Bool {
    bytes.lend { hasSameBytes(as: $0) }
  }
}

extension Store {
  /// Returns the indexes that a class declares, with their tables.
  func registeredIndexes(
    of type: StoredObject.Type, _ layouts: ClassLayouts
  ) throws(StoreError) -> [RegisteredIndex] {
    var names: Set<ExactName> = []
    return try type.indexes.map { (index) throws(StoreError) in
      precondition(
        names.insert(ExactName(index.name)).inserted,
        "Two indexes of \(type) are named \(index.name).")
      let name = OrderedTableName(Self.indexPrefix(type.storedName) + index.name, kind: .index)
      return RegisteredIndex(index, try backend.orderedTable(name), of: type, layouts)
    }
  }

  /// Returns the prefix of the names of a class's indexes.
  static func indexPrefix(_ className: String) -> String { className + IndexNames.byProperties }
}
