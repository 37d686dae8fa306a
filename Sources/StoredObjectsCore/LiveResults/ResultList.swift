import StoreEngine

/// The objects of ``LiveResults`` at one moment, in order.
///
/// The list does not change with the results, so that you can edit while you iterate. Its objects
/// are those of the store, with their current content. The list includes objects that have been
/// deleted since.
///
/// The list contains row IDs and sort keys. An object is created when you access it: a fault,
/// unless it is in memory.
///
/// Copies share their rows. If the results change while a list of them exists, the array of chunks
/// is copied, which has one entry for about 400 rows.
public struct ResultList<Element: StoredObject> {
  let source: LiveSource
  let rows: SortedRows
  /// The indices of the rows in the list.
  let range: Range<Int>

  init(_ query: ResultsQuery) {
    (source, rows) = (query.source, query.table.rows)
    range = 0..<query.table.count
  }

  init(_ source: LiveSource, _ rows: SortedRows, _ range: Range<Int>) {
    (self.source, self.rows, self.range) = (source, rows, range)
  }

  private func key(_ index: Int) -> ObjectKey {
    precondition(index >= 0 && index < range.count, "The index \(index) is not below \(count).")
    return source.key(of: rows.tie(at: range.lowerBound + index))
  }

  /// The IDs of the objects, which you can send to another isolation domain.
  ///
  /// Complexity: linear in the number of objects; creates no objects.
  public var ids: [ObjectID<Element>] {
    let names = QueryClassNames(source)
    return indices.map { names.id(of: key($0)) }
  }

  /// The row IDs of the objects, each in its own class.
  ///
  /// Complexity: linear in the number of objects; creates no objects.
  public var rowIDs: [UInt32] { indices.map { key($0).rowID } }
}

extension ResultList: RandomAccessCollection {
  /// The first index, 0.
  public var startIndex: Int { 0 }

  /// The number of objects.
  public var endIndex: Int { range.count }

  /// Accesses the object at an index.
  ///
  /// Complexity: O(log n); reads no record.
  public subscript(index: Int) -> Element { source.store.object(key(index)) }
}

@available(*, unavailable) extension ResultList: Sendable {}

/// The names of the classes in a query.
struct QueryClassNames {
  private let names: [(classID: UInt8, name: String)]

  init(_ source: LiveSource) { names = source.entries.map { ($0.classID, $0.name) } }

  func id<Object: StoredObject>(of key: ObjectKey) -> ObjectID<Object> {
    let name = names.first { $0.classID == key.classID }?.name
    return ObjectID(className: name ?? "", rowID: key.rowID)
  }
}
