import StoreEngine

/// The walks of a query through a class and its subclasses, merged into one order.
///
/// Objects with the same values are ordered by class, then by row; in reverse if the last order is
/// descending.
@usableFromInline struct QueryMerge {
  private var parts: [Part]
  private var page: QueryPage

  private struct Part {
    let orders: [QueryOrderKey]
    var walk: QueryWalk
    /// The next object: nil until it is fetched, `.some(nil)` at the end.
    var next: (key: SortKey, object: StoredObject)??

    mutating func fill() throws(StoreError) {
      if next == nil { next = .some(try walk.next().map { (SortKey($0, orders), $0) }) }
    }
  }

  /// Merges queries of the same order, one for each class, in the order of class IDs.
  init(_ queries: [Query], limit: Int?, offset: Int, after object: StoredObject?) {
    page = QueryPage(offset: offset, limit: limit)
    let most = limit.map { $0.addingSaturated(offset) }
    let isReversed = queries.first?.orders.last?.isDescending == true
    parts = queries.map { query in
      let start = object.map { Self.start(of: $0, among: query.entry, isReversed) }
      let walk = QueryWalk(query, limit: most, offset: 0, after: object, start: start)
      return Part(orders: query.orders, walk: walk)
    }
    if isReversed { parts.reverse() }
    guard let object, queries.first?.orders.isEmpty == true else { return }
    // Without an order, whole classes come before the object.
    parts = zip(queries, parts).filter {
      Self.start(of: object, among: $0.0.entry, isReversed) != .behindAll
    }.map(\.1)
  }

  /// Returns the place of an object among objects of a class with the same values.
  private static func start(
    of object: StoredObject, among entry: RegisteredClass, _ isReversed: Bool
  ) -> QueryWalk.Start {
    let own = object.registration?.classID ?? 0
    if own == entry.classID || object.registration == nil { return .row }
    return (own < entry.classID) == isReversed ? .behindAll : .beforeAll
  }

  /// Returns the next object, or nil at the end.
  @usableFromInline mutating func next() throws(StoreError) -> StoredObject? {
    while page.hasRoom, let object = try nextInOrder() { if page.takes() { return object } }
    return nil
  }

  private mutating func nextInOrder() throws(StoreError) -> StoredObject? {
    var first: (index: Int, bytes: [UInt8])?
    for index in parts.indices {
      try parts[index].fill()
      guard let key = parts[index].next??.key else { continue }
      if let first, !key.bytes.lexicographicallyPrecedes(first.bytes) { continue }
      first = (index, key.bytes)
      // Without an order, the classes come one after the other.
      if parts[index].orders.isEmpty { break }
    }
    guard let first else { return nil }
    defer { parts[first.index].next = nil }
    return parts[first.index].next??.object
  }
}
