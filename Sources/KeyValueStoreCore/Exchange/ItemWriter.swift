import Files
package import StoreEngine

/// Adds items and tables of another store to a commit.
///
/// Use it in a turn, so that nobody changes the tables meanwhile.
package struct ItemWriter {
  private let backend: any StoreBackend
  private var numbers: ItemTables
  private var known: [[UInt8]: UInt32]
  private let list: OrderedTableID

  /// Reads the list of tables.
  ///
  /// - Throws: `StoreError` with `damaged`, `ioError` or `closed`.
  package init(_ backend: any StoreBackend) throws(StoreError) {
    self.backend = backend
    numbers = try ItemTables(backend)
    known = Dictionary(numbers.names.map { ($0.value, $0.key) }) { first, _ in first }
    list = try backend.orderedTable(Catalogue.list)
  }

  /// Adds the states after some changes to a commit.
  ///
  /// An item makes its table, if there is none.
  ///
  /// - Throws: `StoreError` with `invalidArgument` if a table that is dropped keeps items; `damaged`,
  ///   `ioError` or `closed`.
  package mutating func add(
    _ changes: ItemChanges, to commit: inout ChangeSet
  ) throws(StoreError) {
    let created = changes.tables.filter { $0.value.after != nil }.map(\.key)
    let used = changes.items.filter { $0.value.after != nil }.map(\.key.table)
    // Before any table is dropped, whose number must not be used in the same commit.
    for name in Set(created + used).sorted(by: { $0.lexicographicallyPrecedes($1) })
    where known[name] == nil {
      let number = numbers.add(name)
      known[name] = number
      let entry = Catalogue.entry(number, String(decoding: name, as: UTF8.self))
      commit.set(name, to: entry, in: list)
    }
    var removed: [[UInt8]: Int] = [:]
    for (place, change) in changes.items.sorted(by: { $0.key < $1.key }) {
      guard let number = known[place.table] else { continue }
      let isRemoved = try set(place.key, change.after, number, &commit)
      if isRemoved { removed[place.table, default: 0] += 1 }
    }
    for (name, change) in changes.tables where change.after == nil {
      guard let number = known[name] else { continue }
      try drop(name, number, besides: removed[name] ?? 0, &commit)
    }
  }

  /// Sets an item; returns whether there was one that is removed.
  private func set(
    _ key: [UInt8], _ body: [UInt8]?, _ number: UInt32, _ commit: inout ChangeSet
  ) throws(StoreError) -> Bool {
    let items = try backend.orderedTable(Catalogue.items(number))
    let old = try backend.withValue(of: key, in: items) { [UInt8](copying: $0) }
    let new = body.map { ItemBody.record($0, key, in: number) }
    if old == new { return false }
    commit.set(key, to: new, in: items)
    let (before, after) = (Self.expiry(old), Self.expiry(new))
    if before != after {
      let expiry = try backend.orderedTable(Catalogue.expiry(number))
      if let before { commit.set(before + key, to: nil, in: expiry) }
      if let after { commit.set(after + key, to: [], in: expiry) }
    }
    return new == nil
  }

  /// Returns the beginning of the key in the table of expiry times.
  private static func expiry(_ record: [UInt8]?) -> [UInt8]? {
    let head = record?.lend { ItemFormat.head(of: $0)?.head }
    return head?.expiresAt.map { ExpiryKey.bytes($0, []) }
  }

  private func drop(
    _ name: [UInt8], _ number: UInt32, besides removed: Int, _ commit: inout ChangeSet
  ) throws(StoreError) {
    let items = try backend.orderedTable(Catalogue.items(number))
    guard try backend.keyCount(in: items, KeyRange()) == removed else {
      throw StoreError(
        .invalidArgument, "A table that has items was to be dropped.",
        table: String(decoding: name, as: UTF8.self))
    }
    commit.set(name, to: nil, in: list)
    let expiry = try backend.orderedTable(Catalogue.expiry(number))
    if try backend.keyCount(in: expiry, KeyRange()) > 0 { commit.clear(expiry) }
  }
}
