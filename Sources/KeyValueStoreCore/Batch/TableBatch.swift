import Files
import StoreEngine

/// The changes of a batch to one table.
struct TableBatch {
  typealias KeyChange = ChangeSet.KeyChange

  let state: TableState
  /// Whether all previous content of the table is removed.
  private(set) var isCleared = false
  /// The final state of each changed key, in the order of the first changes.
  private(set) var items: [Item] = []
  private var index = ItemIndex()
  /// The changes of the expiry times.
  var expiry: [KeyChange] = []
  /// A view of the items before the batch, once it has read one, if the backend supports views.
  var view: OrderedView?

  /// The final state of a key.
  struct Item {
    /// The position of the key in the bytes of the batch; the record follows directly, if any.
    var key: Range<Int>
    /// The position of the record; empty for a deleted key.
    var record: Range<Int>
    /// The times; nil for a deleted key.
    var head: ItemHead?
    var kind: KeyValueChange.Kind
    /// Whether the table had the key before the batch, or since it was cleared.
    let wasThere: Bool

    /// The change in the form for the backend.
    var change: KeyChange {
      let change =
        head == nil
        ? KeyChange(removing: key.lowerBound, keyCount: key.count)
        : KeyChange(
          putting: key.lowerBound, keyCount: key.count, valueCount: record.count)
      return change.knowing(wasThere: wasThere)
    }
  }

  init(_ state: TableState) { self.state = state }

  /// Returns the number of the item with a key.
  @inline(__always)
  func find(_ key: RawSpan, _ hash: UInt64, in bytes: [UInt8]) -> Int? {
    index.find(hash) { item in bytes.lend(items[item].key) { $0.hasSameBytes(as: key) } }
  }

  /// Returns the state of a key, or nil if the batch has not changed it.
  func item(_ key: [UInt8], in bytes: [UInt8]) -> Item? {
    key.lend { key in find(key, key.keyHash, in: bytes).map { items[$0] } }
  }

  /// Sets the state of a key, and replaces an existing item of the key.
  @inline(__always)
  mutating func set(_ item: Item, at number: Int?, _ hash: UInt64) {
    if let number {
      items[number] = item
    } else {
      items.append(item)
      index.append(hash)
    }
  }

  mutating func clear() {
    self = TableBatch(state)
    isCleared = true
  }
}

extension KeyValueBatch {
  /// Releases what the batch has read, so that the commit can change it in place.
  mutating func releaseViews() { for table in tables.indices { tables[table].view = nil } }

  /// The changes in the form for the backend.
  var changes: ChangeSet {
    var ordered: [ChangeSet.OrderedTableChanges] = []
    func add(_ id: OrderedTableID, _ changes: [ChangeSet.KeyChange], isCleared: Bool) {
      // A table with nothing to clear gets no file.
      let clears = isCleared && (try? store.hasKeys(id)) ?? true
      if clears || !changes.isEmpty {
        ordered.append(.init(table: id, clearsFirst: clears, changes: changes))
      }
    }
    // Most batches have one table.
    let order =
      tables.count == 1 ? tables : tables.sorted { $0.state.number < $1.state.number }
    for table in order {
      add(table.state.items, table.items.map { $0.change }, isCleared: table.isCleared)
      add(table.state.expiry, table.expiry, isCleared: table.isCleared)
    }
    return ChangeSet(bytes: bytes, ordered: ordered)
  }
}
