import Files
import StoreEngine

/// What a batch does to one table.
struct TableBatch {
  typealias KeyChange = ChangeSet.KeyChange

  let state: TableState
  /// Whether all that was there before the batch goes.
  private(set) var isCleared = false
  /// How the batch leaves each key that it has touched, in the order in which it first did.
  private(set) var items: [Item] = []
  private var index = ItemIndex()
  /// The changes of the expiry times.
  var expiry: [KeyChange] = []
  /// The items as they were before the batch, once it has looked, and the backend shows them so.
  var view: OrderedView?

  /// How a key is left.
  struct Item {
    /// Where the key is in the bytes of the batch, and directly behind it the record, if there is
    /// one.
    var key: Range<Int>
    /// Empty for a deleted key.
    var record: Range<Int>
    /// The times; nil for a deleted key.
    var head: ItemHead?
    var kind: KeyValueChange.Kind
    /// Whether the table had the key before the batch, or since it was cleared.
    let wasThere: Bool

    /// As the backend gets it.
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

  /// The number of the item that has a key.
  @inline(__always)
  func find(_ key: RawSpan, _ hash: UInt64, in bytes: [UInt8]) -> Int? {
    index.find(hash) { item in bytes.lend(items[item].key) { $0.hasSameBytes(as: key) } }
  }

  /// How a key is left; nil if the batch has not touched it.
  func item(_ key: [UInt8], in bytes: [UInt8]) -> Item? {
    key.lend { key in find(key, key.keyHash, in: bytes).map { items[$0] } }
  }

  /// Sets how a key is left; an item that the key has already is replaced.
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
  /// The changes as the backend takes them.
  var changes: ChangeSet {
    var ordered: [ChangeSet.OrderedTableChanges] = []
    func add(_ id: OrderedTableID, _ changes: [ChangeSet.KeyChange], isCleared: Bool) {
      // What has nothing to clear gets no file.
      let clears = isCleared && (try? store.hasKeys(id)) ?? true
      if clears || !changes.isEmpty {
        ordered.append(.init(table: id, clearsFirst: clears, changes: changes))
      }
    }
    // Most have one table.
    let order =
      tables.count == 1 ? tables : tables.sorted { $0.state.number < $1.state.number }
    for table in order {
      add(table.state.items, table.items.map { $0.change }, isCleared: table.isCleared)
      add(table.state.expiry, table.expiry, isCleared: table.isCleared)
    }
    return ChangeSet(bytes: bytes, ordered: ordered)
  }
}
