import StoreEngine

/// ``LiveResults`` in sections, by the values of a property.
///
///     let songs = try store.results(
///       Song.self, sortedBy: [.ascending(\.title)], sections: \.artistName)
///     for section in songs.sections { print(section.value, section.objects.count) }
///
/// The objects are sorted by the property first. A section exists as long as it has objects.
public final class SectionedResults<Object: StoredObject, Value>: LiveResults<Object> {
  /// The current sections, as a collection that does not change.
  ///
  /// Complexity: constant time, plus the time to update the results.
  public var sections: ResultSections<Object, Value> {
    query.access()
    return ResultSections(query.source, query.table.rows, query.sections ?? SectionTable())
  }

  /// Accesses the object at an index in a section.
  ///
  /// Complexity: O(log n), plus the time to update the results.
  ///
  /// - Precondition: The section and the index exist.
  public subscript(section section: Int, item item: Int) -> Object {
    sections[section].objects[item]
  }
}

/// The sections of ``SectionedResults`` at one moment, in order.
///
/// It does not change with the results.
public struct ResultSections<Object: StoredObject, Value>: RandomAccessCollection {
  private let source: LiveSource
  private let rows: SortedRows
  private let table: SectionTable

  init(_ source: LiveSource, _ rows: SortedRows, _ table: SectionTable) {
    (self.source, self.rows, self.table) = (source, rows, table)
  }

  /// The first index, 0.
  public var startIndex: Int { 0 }

  /// The number of sections.
  public var endIndex: Int { table.count }

  /// Accesses a section.
  ///
  /// Complexity: constant time.
  public subscript(index: Int) -> ResultSection<Object, Value> {
    guard let value = table.values[index] as? Value else {
      preconditionFailure("A section has a value of another type.")
    }
    let start = table.start(of: index)
    return ResultSection(
      value: value, objects: ResultList(source, rows, start..<start + table.count(of: index)))
  }
}

/// A section of ``SectionedResults``: the objects with the same value in the section property.
public struct ResultSection<Object: StoredObject, Value> {
  /// The value that the objects have in common.
  public let value: Value
  /// The objects, in order.
  public let objects: ResultList<Object>
}

@available(*, unavailable) extension ResultSections: Sendable {}
@available(*, unavailable) extension ResultSection: Sendable {}
