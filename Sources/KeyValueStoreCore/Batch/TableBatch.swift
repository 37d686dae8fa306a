import StoredObjectsCore

/// What a batch does to one table.
struct TableBatch {
  typealias KeyChange = ChangeSet.KeyChange

  let state: TableState
  /// Whether all that was there before the batch goes.
  private(set) var isCleared = false
  /// How the batch leaves each key that it has touched.
  private(set) var items: [[UInt8]: Item] = [:]
  /// The changes of the items, in the order of the calls.
  private(set) var changes: [KeyChange] = []
  /// The changes of the expiry times.
  var expiry: [KeyChange] = []

  /// How a key is left.
  struct Item {
    /// Where the record is in the bytes of the batch; nil for a deleted key.
    var record: Range<Int>?
    var head: ItemHead?
    var kind: KeyValueChange.Kind
  }

  init(_ state: TableState) { self.state = state }

  /// A key stands at a place in the bytes, and its record behind it.
  mutating func put(_ key: [UInt8], _ start: Int, _ record: Range<Int>, _ head: ItemHead) {
    changes.append(
      KeyChange(putting: start, keyCount: key.count, valueCount: record.count))
    items[key] = Item(record: record, head: head, kind: .put)
  }

  mutating func delete(_ key: [UInt8], _ start: Int, _ kind: KeyValueChange.Kind) {
    changes.append(KeyChange(removing: start, keyCount: key.count))
    items[key] = Item(record: nil, head: nil, kind: kind)
  }

  mutating func clear() {
    self = TableBatch(state)
    isCleared = true
  }
}

extension KeyValueBatch {
  /// The changes as the backend takes them.
  var changes: ChangeSet {
    var ordered: [ChangeSet.OrderedTableChanges] = []
    for table in tables.values.sorted(by: { $0.state.number < $1.state.number }) {
      for (id, changes) in [
        (table.state.items, table.changes), (table.state.expiry, table.expiry),
      ] {
        // What has nothing to clear gets no file.
        let clears =
          table.isCleared && (try? store.backend.keyCount(in: id, KeyRange()) > 0) ?? true
        if clears || !changes.isEmpty {
          ordered.append(.init(table: id, clearsFirst: clears, changes: changes))
        }
      }
    }
    return ChangeSet(bytes: bytes, ordered: ordered)
  }

  /// Tells observers, once the changes are written.
  func publish() {
    guard store.observers.isWatched else { return }
    for table in tables.values.sorted(by: { $0.state.number < $1.state.number }) {
      var changes: [KeyValueChange] = []
      if table.isCleared { changes.append(KeyValueChange(.cleared, table.state.name, nil)) }
      for (key, item) in table.items.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        let key = String(decoding: key, as: UTF8.self)
        changes.append(KeyValueChange(item.kind, table.state.name, key))
      }
      store.observers.publish(changes, of: table.state)
    }
  }
}
