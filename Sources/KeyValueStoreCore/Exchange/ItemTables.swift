import Files
package import StoreEngine

/// The numbers of the tables of one store, which differ from those of other stores.
package struct ItemTables: Sendable, Equatable {
  /// The names of the tables in UTF-8, by their numbers.
  package private(set) var names: [UInt32: [UInt8]]

  package init(_ names: [UInt32: [UInt8]]) { self.names = names }

  /// Reads the list of a store.
  ///
  /// - Throws: `StoreError` with `damaged`, `ioError` or `closed`.
  package init(_ backend: any StoreBackend) throws(StoreError) {
    var names: [UInt32: [UInt8]] = [:]
    let list = try backend.orderedTable(Catalogue.list)
    _ = try backend.scanKeys(of: list, KeyRange(), isReversed: false) {
      (key, value) throws(StoreError) in
      let name = [UInt8](copying: key)
      guard let number = Self.number(name, [UInt8](copying: value)) else {
        throw StoreError(
          .damaged, "The list of tables is damaged.", at: .init(path: backend.location))
      }
      names[number] = name
      return .next
    }
    self.names = names
  }

  /// Whether a store has any table.
  ///
  /// - Throws: `StoreError` with `damaged`, `ioError` or `closed`.
  package static func hasTables(_ backend: any StoreBackend) throws(StoreError) -> Bool {
    try backend.keyCount(in: backend.orderedTable(Catalogue.list), KeyRange()) > 0
  }

  static func number(_ name: [UInt8], _ entry: [UInt8]) -> UInt32? {
    guard let name = name.lend({ String(checking: $0) }) else { return nil }
    return entry.lend { Catalogue.number($0, name) }
  }

  /// The lowest number that no table has.
  var freeNumber: UInt32 {
    var number: UInt32 = 1
    while names[number] != nil { number += 1 }
    return number
  }

  mutating func add(_ name: [UInt8]) -> UInt32 {
    let number = freeNumber
    names[number] = name
    return number
  }

  // MARK: Along a history

  /// Goes back behind a commit of the store.
  package mutating func undo(_ entry: HistoryEntry) { apply(entry.listChanges, isUndone: true) }

  /// Goes on to a commit of the store, and returns what it has changed.
  ///
  /// - Throws: `StoreError` with `damaged` for an item with a wrong checksum, or a key that is no
  ///   text.
  package mutating func changes(of entry: HistoryEntry) throws(StoreError) -> ItemChanges {
    let before = names
    apply(entry.listChanges, isUndone: false)
    var changes = ItemChanges()
    for change in entry.listChanges {
      let (old, new) = (
        change.before.flatMap { Self.number(change.key, $0) },
        change.after.flatMap { Self.number(change.key, $0) }
      )
      if (old == nil) == (new == nil) { continue }
      changes.tables[change.key] = .init(before: old.map { _ in [] }, after: new.map { _ in [] })
    }
    for table in entry.orderedTables {
      // The items of a table that was dropped belong to the table before.
      guard let number = Catalogue.number(ofItems: table.name),
        let name = names[number] ?? before[number]
      else { continue }
      for change in table.keys {
        let place = ItemPlace(table: name, key: change.key)
        changes.items[place] = .init(
          // A put replaces a damaged item.
          before: change.before.flatMap { ItemBody.bytes(of: $0, change.key, in: number) },
          after: try Self.body(change.after, place, number))
      }
    }
    return changes
  }

  private static func body(
    _ record: [UInt8]?, _ place: ItemPlace, _ number: UInt32
  ) throws(StoreError) -> [UInt8]? {
    guard let record else { return nil }
    let isText = place.key.lend { String(checking: $0) } != nil
    if isText, let body = ItemBody.bytes(of: record, place.key, in: number) { return body }
    throw StoreError(
      .damaged, "An item in the history has a wrong checksum, or a key that is no text.",
      table: String(decoding: place.table, as: UTF8.self),
      key: String(decoding: place.key, as: UTF8.self))
  }

  private mutating func apply(_ changes: [HistoryEntry.KeyChange], isUndone: Bool) {
    for change in changes {
      let old = isUndone ? change.after : change.before
      if let number = old.flatMap({ Self.number(change.key, $0) }), names[number] == change.key {
        names[number] = nil
      }
    }
    for change in changes {
      let new = isUndone ? change.before : change.after
      if let number = new.flatMap({ Self.number(change.key, $0) }) { names[number] = change.key }
    }
  }
}

extension HistoryEntry {
  /// The changes of the list of key-value tables.
  fileprivate var listChanges: [KeyChange] {
    orderedTables.first { $0.name == Catalogue.list }?.keys ?? []
  }
}

extension Catalogue {
  /// Returns the number of a table, from the name of the ordered table with its items.
  static func number(ofItems name: OrderedTableName) -> UInt32? {
    guard name.name.hasPrefix("KeyValueItems-"),
      let number = UInt32(name.name.dropFirst("KeyValueItems-".count)), items(number) == name
    else { return nil }
    return number
  }
}
