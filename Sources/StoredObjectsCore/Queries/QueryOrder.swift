import StoreEngine

/// A property to sort found objects by, and the direction.
///
///     let songs = try store.fetch(
///       Song.self, sortedBy: [.ascending(\.artist), .descending(\.seconds)])
///
/// Several orders apply one after the other. Objects that are equal in all of them are sorted by
/// row, which is the order of insertion; in reverse if the last order is descending. nil sorts
/// before all values, and NaN after all others.
public struct QueryOrder<Object: StoredObject> {
  let key: QueryOrderKey

  /// Sorts by a property, the smallest value first.
  public static func ascending<Value: IndexableValue>(
    _ property: KeyPath<Object, Value>
  ) -> QueryOrder {
    QueryOrder(key: QueryOrderKey(property, isDescending: false))
  }

  /// Sorts by a property, the greatest value first.
  public static func descending<Value: IndexableValue>(
    _ property: KeyPath<Object, Value>
  ) -> QueryOrder {
    QueryOrder(key: QueryOrderKey(property, isDescending: true))
  }
}

/// A sort order of any class.
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

  /// Appends the property of an object to a sort key, in the direction of the order.
  func append(_ object: StoredObject, to key: inout IndexKey) {
    let start = key.bytes.count
    writeKey(object, &key)
    // No value's bytes are a prefix of another's, so inverting each byte reverses the order.
    if isDescending { for index in start..<key.bytes.count { key.bytes[index] ^= 0xFF } }
  }
}

/// The place of an object in an order, as bytes that sort as the objects do.
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
    // An object without a row sorts before all objects with the same values.
    case .row where object.rowID > 0:
      row = orders.last?.isDescending == true ? ~object.rowID : object.rowID
    case .row, .beforeAll: row = 0
    case .behindAll: row = .max
    }
  }

  /// Creates the place of a row without an order.
  init(row: UInt32) { (bytes, self.row) = ([], row) }

  static func < (left: SortKey, right: SortKey) -> Bool {
    if left.bytes != right.bytes { return left.bytes.lexicographicallyPrecedes(right.bytes) }
    return left.row < right.row
  }
}
