import Files
import Foundation
import Locks
package import StoreEngine
import StoredObjectsCore

/// An index of a class, as far as its name and its content show how it was made.
///
/// A store keeps the keys of an index, but not the properties that it was declared with. The names
/// that `@Stored` gives to indexes are those of the properties. So a name is taken as a hint, and
/// the hint is compared with the keys of some objects.
struct BrowsedIndex: Sendable {
  /// The declared name.
  let name: String
  let table: OrderedTableID
  /// The properties, the most significant first; empty if they are not known.
  let parts: [Part]
  /// Whether an object has a key for each element of a list.
  let isMultiple: Bool
  /// Whether the keys of all objects are in the index, and are made as its parts say.
  let isUsable: Bool

  /// A property of an index.
  struct Part: Sendable, Equatable {
    let name: String
    let type: StoredType
    /// Whether texts are compared without case and accents.
    let isFolded: Bool
  }

  /// The first byte of the keys of objects.
  static let mark: UInt8 = 1
  private static let rowSize = 4

  /// Returns the row at the end of a key.
  static func row(_ key: [UInt8]) -> UInt32 {
    key.suffix(rowSize).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Returns a key without its mark and its row.
  static func values(_ key: [UInt8]) -> ArraySlice<UInt8> { key.dropFirst().dropLast(rowSize) }

  /// Returns the key for some values and a row.
  static func key(_ values: [UInt8], _ row: UInt32) -> [UInt8] {
    [mark] + values + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: row >> $0) }
  }

  /// Returns the values of a record's keys; nil if one can't be made.
  func values(of record: BrowsedRecord, _ state: BrowsedState) -> [[UInt8]]? {
    var values: [[UInt8]] = [[]]
    for part in parts {
      guard let bytes = record.part(part.name)?.bytes else { return nil }
      if isMultiple {
        guard let objects = try? state.references(bytes, part.type) else { return nil }
        let keys = Set(objects.compactMap { state.indexKey(of: $0) })
        return keys.sorted { $0.lexicographicallyPrecedes($1) }
      }
      guard let key = state.indexKey(bytes, part.type, isFolded: part.isFolded) else { return nil }
      values = values.map { $0 + key }
    }
    return parts.isEmpty ? nil : values
  }
}

extension BrowsedState {
  /// Returns the indexes of a class.
  ///
  /// Complexity: linear in the number of indexes; some records are read.
  func indexes(of known: BrowsedClass) throws(StoreError) -> [BrowsedIndex] {
    if let found = findings.withLock({ $0.indexes[known.name] }) { return found }
    let prefix = known.name + IndexNames.byProperties
    let tables = try backend.orderedTableNames()
      .filter { $0.kind == .index && $0.name.hasPrefix(prefix) }
      .sorted { $0.name < $1.name }
    let found = try tables.map { (table) throws(StoreError) in
      try index(String(table.name.dropFirst(prefix.count)), table, of: known)
    }
    findings.withLock { $0.indexes[known.name] = found }
    return found
  }

  /// Returns the index that sorts by a property, if there is one.
  func index(by property: String, of known: BrowsedClass) throws(StoreError) -> BrowsedIndex? {
    let usable = try indexes(of: known).filter {
      $0.isUsable && !$0.isMultiple && $0.parts.first?.name == property
    }
    return usable.first { $0.parts.count == 1 && !$0.parts[0].isFolded }
      ?? usable.first { !$0.parts[0].isFolded } ?? usable.first
  }

  private func index(
    _ name: String, _ table: OrderedTableName, of known: BrowsedClass
  ) throws(StoreError) -> BrowsedIndex {
    let id = try backend.orderedTable(table)
    var stamp: [UInt8] = []
    _ = try backend.copyValue(of: IndexStamp.key, in: id, to: &stamp)
    // "1", the version of the class, whether there are several keys, and the types.
    let words = String(decoding: stamp, as: UTF8.self).split(separator: " ", maxSplits: 3)
    guard words.count == 4, words[0] == "1" else {
      return BrowsedIndex(name: name, table: id, parts: [], isMultiple: false, isUsable: false)
    }
    let isMultiple = words[2] == "true"
    let parts = Self.parts(name, known, isMultiple: isMultiple)
    let index = BrowsedIndex(
      name: name, table: id, parts: parts, isMultiple: isMultiple, isUsable: true)
    var isUsable = !parts.isEmpty
    if isUsable { isUsable = try isWhole(index, known) }
    if isUsable { isUsable = try agrees(index, known) }
    return BrowsedIndex(
      name: name, table: id, parts: parts, isMultiple: isMultiple, isUsable: isUsable)
  }

  /// Returns the properties that the name of an index names.
  private static func parts(
    _ name: String, _ known: BrowsedClass, isMultiple: Bool
  ) -> [BrowsedIndex.Part] {
    let (isFolded, rest) =
      name.hasPrefix("folded ") ? (true, String(name.dropFirst(7))) : (false, name)
    let names =
      known.property(rest) != nil
      ? [rest] : rest.components(separatedBy: IndexNames.betweenProperties)
    let parts = names.compactMap { name in
      known.property(name).map {
        BrowsedIndex.Part(name: name, type: $0.type, isFolded: isFolded)
      }
    }
    guard parts.count == names.count, !isMultiple || parts.count == 1 else { return [] }
    return parts
  }

  private func isWhole(_ index: BrowsedIndex, _ known: BrowsedClass) throws(StoreError) -> Bool {
    if index.isMultiple { return true }
    return try backend.keyCount(in: index.table, .prefix([BrowsedIndex.mark]))
      == known.objectCount
  }

  /// The number of keys at each end of an index, and of records, that are compared.
  private static let comparedCount = 8

  /// Whether the keys of some objects are as the parts say; false if there are none.
  private func agrees(_ index: BrowsedIndex, _ known: BrowsedClass) throws(StoreError) -> Bool {
    var keys: [[UInt8]] = []
    for isReversed in [false, true] {
      var count = 0
      _ = try backend.scanKeys(
        of: index.table, .prefix([BrowsedIndex.mark]), isReversed: isReversed
      ) { key, _ in
        keys.append([UInt8](copying: key))
        count += 1
        return count < Self.comparedCount ? .next : .pause
      }
    }
    for key in keys {
      guard let record = try? record(BrowsedIndex.row(key), known),
        let values = index.values(of: record, self),
        values.contains(where: { $0.elementsEqual(BrowsedIndex.values(key)) })
      else { return false }
    }
    if keys.isEmpty { return false }
    return try hasKeysOfFirstRecords(index, known)
  }

  private func hasKeysOfFirstRecords(
    _ index: BrowsedIndex, _ known: BrowsedClass
  ) throws(StoreError) -> Bool {
    for (row, bytes) in try records(
      of: known, .after(0), limit: Self.comparedCount, maximumLookUps: Self.batchRows
    ).rows {
      guard let record = try? known.record(row, bytes), let values = index.values(of: record, self)
      else { continue }
      for value in values {
        let key = BrowsedIndex.key(value, row)
        if try backend.withValue(of: key, in: index.table, { _ in true }) == nil { return false }
      }
    }
    return true
  }
}

extension BrowsedState {
  /// Returns the names of the indexes that sort by a property, by property.
  package func indexNames(of known: BrowsedClass) throws(StoreError) -> [String: String] {
    var names: [String: String] = [:]
    for property in known.properties {
      if let index = try index(by: property.name, of: known) { names[property.name] = index.name }
    }
    return names
  }

  /// Returns the properties that have an index of their own, and whether it is one of folded texts.
  package func indexedProperties(
    of known: BrowsedClass
  ) throws(StoreError) -> [(name: String, isFolded: Bool)] {
    try indexes(of: known).compactMap { index in
      guard index.parts.count == 1 else { return nil }
      return (index.parts[0].name, index.parts[0].isFolded)
    }
  }

  /// Returns the properties of each index of several properties, the most significant first.
  package func compoundIndexes(of known: BrowsedClass) throws(StoreError) -> [[String]] {
    try indexes(of: known).map { $0.parts.map(\.name) }.filter { $0.count > 1 }
  }

  /// Returns the names of the properties in the full-text index of a class.
  package func fullTextProperties(of known: BrowsedClass) throws(StoreError) -> [String] {
    try textIndex(of: known)?.attributes ?? []
  }

  /// Whether the texts of a class can be searched by an index.
  package func hasTextIndex(_ known: BrowsedClass) throws(StoreError) -> Bool {
    try textIndex(of: known) != nil
  }
}
