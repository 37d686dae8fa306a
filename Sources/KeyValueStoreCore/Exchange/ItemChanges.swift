import Files
package import StoreEngine

/// A key of a table, as every store names it.
package struct ItemPlace: Hashable, Sendable, Comparable {
  /// The name of the table in UTF-8.
  package let table: [UInt8]
  /// The key in UTF-8.
  package let key: [UInt8]

  package init(table: [UInt8], key: [UInt8]) { (self.table, self.key) = (table, key) }

  package static func < (left: ItemPlace, right: ItemPlace) -> Bool {
    if left.table != right.table { return left.table.lexicographicallyPrecedes(right.table) }
    return left.key.lexicographicallyPrecedes(right.key)
  }
}

/// The changes of items and tables by one commit or several, without the numbers that a store has
/// given to its tables.
package struct ItemChanges: Sendable, Equatable {
  /// The states of an item before and after, see ``ItemBody``; nil for none.
  ///
  /// Of a table that exists, the state is empty.
  package struct Change: Sendable, Equatable {
    package var before: [UInt8]?
    package var after: [UInt8]?

    package init(before: [UInt8]?, after: [UInt8]?) { (self.before, self.after) = (before, after) }
  }

  /// The tables that were created and dropped, by name in UTF-8.
  package var tables: [[UInt8]: Change] = [:]
  package var items: [ItemPlace: Change] = [:]

  /// Creates a set without changes.
  package init() {}

  package var isEmpty: Bool { tables.isEmpty && items.isEmpty }

  /// Adds the changes of a later commit.
  package mutating func add(_ later: ItemChanges) {
    tables.merge(later.tables) { Change(before: $0.before, after: $1.after) }
    items.merge(later.items) { Change(before: $0.before, after: $1.after) }
  }

  /// Removes everything about some tables.
  package mutating func removeTables(_ names: Set<[UInt8]>) {
    if names.isEmpty || isEmpty { return }
    tables = tables.filter { !names.contains($0.key) }
    items = items.filter { !names.contains($0.key.table) }
  }
}

// MARK: - In entries of a history

/// The form of ``ItemChanges`` in an entry of a history: two ordered tables.
///
///     KeyValueTables:  name                                    -->  nothing
///     KeyValueItems:   count of bytes of the name (4) | name | key  -->  the item
///
/// The count is big-endian. An item is that of a key-value table without its checksum, which depends
/// on the number of the table.
extension ItemChanges {
  private static let items = OrderedTableName("KeyValueItems", kind: .data)

  /// Whether an ordered table in an entry contains changes in this form.
  package static func areIn(_ name: OrderedTableName) -> Bool {
    name == Catalogue.list || name == items
  }

  /// The changes in the form of an entry.
  package var orderedTables: [HistoryEntry.OrderedTableChanges] {
    let tables = tables.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let items = items.sorted { $0.key < $1.key }
    return [
      .init(name: Catalogue.list, keys: tables.compactMap { Self.change($0, $1) }),
      .init(name: Self.items, keys: items.compactMap { Self.change($0.bytes, $1) }),
    ]
    .filter { !$0.keys.isEmpty }
  }

  /// Returns a change in the form of an entry; nil if there was nothing to remove.
  private static func change(_ key: [UInt8], _ change: Change) -> HistoryEntry.KeyChange? {
    if change.before == nil, change.after == nil { return nil }
    return .init(key: key, before: change.before, after: change.after)
  }

  /// Reads and checks changes, which may come from anyone.
  ///
  /// - Parameter ordered: The ordered tables of an entry for which ``areIn(_:)`` is true.
  /// - Throws: `StoreError` with `invalidArgument`.
  package init(
    _ ordered: some Sequence<HistoryEntry.OrderedTableChanges>
  ) throws(StoreError) {
    for table in ordered {
      guard !table.isCleared else { throw Self.refused("it clears a table at once") }
      for change in table.keys {
        let isNew: Bool
        let states = Change(before: change.before, after: change.after)
        if table.name == Catalogue.list {
          try Self.checkName(change.key)
          guard (change.after ?? []).isEmpty, (change.before ?? []).isEmpty else {
            throw Self.refused("a table is no item")
          }
          isNew = tables.updateValue(states, forKey: change.key) == nil
        } else {
          let place = try Self.place(change.key)
          if let after = change.after { try ItemBody.check(after, of: place) }
          isNew = items.updateValue(states, forKey: place) == nil
        }
        guard isNew else { throw Self.refused("it changes a key twice") }
      }
    }
  }

  private static func place(_ bytes: [UInt8]) throws(StoreError) -> ItemPlace {
    let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 4, count <= bytes.count - 4 else { throw refused("a key has no table") }
    let place = ItemPlace(
      table: Array(bytes[4..<4 + count]), key: Array(bytes[(4 + count)...]))
    try checkName(place.table)
    try checkName(place.key)
    return place
  }

  private static func checkName(_ bytes: [UInt8]) throws(StoreError) {
    guard bytes.lend({ String(checking: $0) }) != nil else { throw refused("a name is no text") }
  }

  fileprivate static func refused(_ reason: String) -> StoreError {
    StoreError(.invalidArgument, "Changes of items make no sense: \(reason).")
  }
}

extension ItemPlace {
  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt32(table.count))
    return bytes + table + key
  }
}
