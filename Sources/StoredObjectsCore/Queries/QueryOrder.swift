import StoreEngine

/// By which property found objects are ordered, and in which direction.
///
///     try store.fetch(Song.self, sortedBy: [.ascending(\.artist), .descending(\.seconds)])
///
/// Several count one after the other. Objects that are the same by all of them are in the order of
/// their rows, which is that of insertion; backwards where the last direction is. nil is before all
/// values, and NaN behind all others.
public struct QueryOrder<Object: StoredObject> {
  let key: QueryOrderKey

  /// The smallest value first.
  public static func ascending<Value: IndexableValue>(
    _ property: KeyPath<Object, Value>
  ) -> QueryOrder {
    QueryOrder(key: QueryOrderKey(property, isDescending: false))
  }

  /// The greatest value first.
  public static func descending<Value: IndexableValue>(
    _ property: KeyPath<Object, Value>
  ) -> QueryOrder {
    QueryOrder(key: QueryOrderKey(property, isDescending: true))
  }
}

/// The same, whatever the class.
struct QueryOrderKey {
  let property: AnyKeyPath
  let isDescending: Bool
  let writeKey: (StoredObject, inout IndexKey) -> Void

  init<Object: StoredObject, Value: IndexableValue>(
    _ property: KeyPath<Object, Value>, isDescending: Bool
  ) {
    (self.property, self.isDescending) = (property, isDescending)
    writeKey = { object, key in
      if let object = object as? Object { object[keyPath: property].writeKey(to: &key) }
    }
  }

  /// Appends what an object has in the property, in the direction of the order.
  func append(_ object: StoredObject, to key: inout IndexKey) {
    let start = key.bytes.count
    writeKey(object, &key)
    // No value's bytes begin those of another, so that they may be turned around one by one.
    if isDescending { for index in start..<key.bytes.count { key.bytes[index] ^= 0xFF } }
  }
}

/// Where an object stands among others: bytes that are ordered as the objects are.
struct SortKey: Comparable {
  let bytes: [UInt8]
  let row: UInt32

  init(
    _ object: StoredObject, _ orders: [QueryOrderKey], _ startPoint: QueryWalk.Start = .row
  ) {
    var key = IndexKey()
    for order in orders { order.append(object, to: &key) }
    bytes = key.bytes
    switch startPoint {
    // An object without a row is before all that have its values.
    case .row where object.rowID > 0:
      row = orders.last?.isDescending == true ? ~object.rowID : object.rowID
    case .row, .beforeAll: row = 0
    case .behindAll: row = .max
    }
  }

  /// The place of a row without an order.
  init(row: UInt32) { (bytes, self.row) = ([], row) }

  static func < (left: SortKey, right: SortKey) -> Bool {
    if left.bytes != right.bytes { return left.bytes.lexicographicallyPrecedes(right.bytes) }
    return left.row < right.row
  }
}
