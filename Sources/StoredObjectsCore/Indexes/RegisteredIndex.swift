import Files
import StoreEngine

/// An index of a class that is registered with a store.
///
/// Its ordered table has a key for each object: 1, the values, and the row (4 bytes, the highest
/// first); or, for an object whose record can't be read, 2 and the row; and the *stamp*, the key 0,
/// whose value says what the index was made by.
///
/// A class, because queries hand it on often.
final class RegisteredIndex {
  static let stampKey = IndexStamp.key
  /// What all keys of objects begin with.
  static let mark: UInt8 = 1
  /// The first byte of the keys of objects that could not be read.
  static let leftOutMark: UInt8 = 2
  static let rowSize = 4

  let declaration: AttributeIndex
  let table: OrderedTableID
  let firstProperty: AnyKeyPath?
  /// The stamp of an index that is whole.
  let stamp: [UInt8]
  /// After how many commits to its class the index was whole; nil before it was looked at.
  var commitCountWhenWhole: UInt64?

  init(
    _ declaration: AttributeIndex, _ table: OrderedTableID, of type: StoredObject.Type,
    _ layouts: ClassLayouts
  ) {
    (self.declaration, self.table) = (declaration.inherited(by: type), table)
    firstProperty = self.declaration.properties.first
    // The class reads records of earlier versions in its own way, which may change with it.
    let text = "1 \(layouts.contentVersion) \(declaration.isMultiple) \(declaration.signature)"
    stamp = Array(text.utf8)
  }

  /// The keys of an object as the table has them, in ascending order.
  func keys(of object: StoredObject) -> [[UInt8]] {
    declaration.keys(object).map { Self.key($0.bytes, row: object.rowID) }
  }

  /// What an object is compared by, where the index is unique; nil where a value is equal to none.
  func uniqueKey(of object: StoredObject) -> [UInt8]? {
    declaration.keys(object).first.flatMap { $0.isExempt ? nil : $0.bytes }
  }

  /// The saved rows that have some values, in ascending order, as long as they are wanted.
  func forEachRow(
    _ values: [UInt8], _ backend: any StoreBackend, _ isWanted: (UInt32) -> Bool
  ) throws(StoreError) {
    _ = try backend.scanKeys(of: table, Self.range(of: values), isReversed: false) { key, _ in
      isWanted(Self.row(key)) ? .next : .pause
    }
  }

  /// What a save of a row is refused with that would have the values of another.
  ///
  /// The property is named as the index is.
  func notUnique(_ entry: RegisteredClass, _ row: UInt32, _ other: UInt32) -> StoreError {
    var location = entry.location(row)
    location.property = declaration.name
    return StoreError(
      .notUnique,
      """
      Row \(other) has the same values by the unique index "\(declaration.name)": change one of them, \
      delete one, or use insertOrUpdate(_:).
      """,
      at: location)
  }

  /// The keys of all objects that have some values.
  static func range(of values: [UInt8]) -> KeyRange { .prefix([mark] + values) }

  static func key(_ values: [UInt8], row: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(values.count + 1 + rowSize)
    appendKey(values, row: row, to: &key)
    return key
  }

  /// Appends the key of some values and a row.
  static func appendKey(_ values: [UInt8], row: UInt32, to bytes: inout [UInt8]) {
    bytes.append(mark)
    bytes += values
    bytes.append(bigEndian: row)
  }

  /// The key of a row whose record could not be read.
  static func leftOutKey(_ row: UInt32) -> [UInt8] {
    var key = [leftOutMark]
    key.append(bigEndian: row)
    return key
  }

  /// The keys of a row whose values nobody can tell.
  ///
  /// Complexity: constant time for one that was left out; linear in the number of keys for one that
  /// has been damaged since.
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

  /// The row at the end of a key.
  static func row(_ key: RawSpan) -> UInt32 {
    key.loadUInt32(at: key.byteCount - rowSize, isBigEndian: true)
  }

  /// Whether the table has a key of every object of its class.
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
  /// The indexes that a class declares, with their tables.
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

  /// How the names of all indexes of a class begin.
  static func indexPrefix(_ className: String) -> String { className + IndexNames.byProperties }
}
