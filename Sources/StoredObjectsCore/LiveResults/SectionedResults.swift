import StoreEngine

/// ``LiveResults`` in sections, by the values of a property.
///
///     let songs = try store.results(
///       Song.self, sortedBy: [.ascending(\.title)], sections: \.artistName)
///     for section in songs.sections { print(section.value, section.objects.count) }
///
/// The objects are sorted by the property first. A section is there as long as it has objects.
public final class SectionedResults<Object: StoredObject, Value>: LiveResults<Object> {
  /// The sections as they are now, as a collection that stays as it is.
  ///
  /// Complexity: constant time, and that of bringing the results up to date.
  public var sections: ResultSections<Object, Value> {
    query.access()
    return ResultSections(query.source, query.table.rows, query.sections ?? SectionTable())
  }

  /// The object at an index in a section.
  ///
  /// Complexity: O(log n), and that of bringing the results up to date.
  ///
  /// - Precondition: There is such a section, and such an index.
  public subscript(section section: Int, item item: Int) -> Object {
    sections[section].objects[item]
  }
}

/// The sections of ``SectionedResults`` at one moment, in order.
///
/// It stays as it is when the results change.
public struct ResultSections<Object: StoredObject, Value>: RandomAccessCollection {
  private let source: LiveSource
  private let rows: SortedRows
  private let table: SectionTable

  init(_ source: LiveSource, _ rows: SortedRows, _ table: SectionTable) {
    (self.source, self.rows, self.table) = (source, rows, table)
  }

  /// 0.
  public var startIndex: Int { 0 }

  /// The number of sections.
  public var endIndex: Int { table.count }

  /// A section.
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

/// Objects that have the same value in the property by which ``SectionedResults`` are divided.
public struct ResultSection<Object: StoredObject, Value> {
  /// The value.
  public let value: Value
  /// The objects, in order.
  public let objects: ResultList<Object>
}

@available(*, unavailable) extension ResultSections: Sendable {}
@available(*, unavailable) extension ResultSection: Sendable {}
