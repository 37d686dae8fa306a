import Foundation
import KeyValueStoreCore
import StoredObjectsCore

/// Descriptions of the ordered tables of a store, derived from their names, and for key-value
/// tables from the list that is one of them.
struct Holdings {
  private let keyValueTables: [OrderedTableName: String]

  init(_ backend: any StoreBackend) throws { keyValueTables = try keyValueTableTitles(backend) }

  /// Returns a title such as `index of Song by title`.
  func title(of table: OrderedTableName) -> String {
    if let title = keyValueTables[table] { return title }
    if table == ExternalCatalogue.table { return "list of external values" }
    guard table.kind == .index else { return "ordered table \(table.name)" }
    if table.name.hasSuffix(IndexNames.fullText) {
      return "full-text index of \(table.name.dropLast(IndexNames.fullText.count))"
    }
    guard let range = table.name.range(of: IndexNames.byProperties) else {
      return "index \(table.name)"
    }
    let (name, attribute) = (table.name[..<range.lowerBound], table.name[range.upperBound...])
    return "index of \(name) by \(attribute)"
  }
}

extension OrderedTableState.Condition: Encodable {}

/// An ordered table in the report of `info`.
struct OrderedTableInfo: Encodable {
  /// The name of the table for `dump`.
  var name: String
  var kind: String
  var holds: String
  /// The number of keys; absent if the table is damaged.
  var keys: Int?
  var fileBytes: Int
  var condition: OrderedTableState.Condition

  init(_ state: OrderedTableState, _ holdings: Holdings) {
    name = state.name.description
    kind = state.name.kind == .index ? "index" : "data"
    holds = holdings.title(of: state.name)
    (keys, fileBytes, condition) = (state.keyCount, state.fileBytes, state.condition)
  }

  var line: String {
    let count = keys.map { counted($0, "key", "keys") } ?? "unknown keys"
    return "\(holds): \(count), \(bytesText(fileBytes))" + remark
  }

  private var remark: String {
    switch condition {
    case .whole: ""
    case .unfinished: ", unfinished: it is completed when needed"
    case .lost: ", lost: it is rebuilt when needed"
    case .damaged:
      kind == "index" ? ", damaged: it is rebuilt when needed" : ", damaged: salvage the store"
    }
  }
}

/// An ordered table in the reports of `check` and `salvage`.
struct OrderedTableReport: Encodable {
  var name: String
  var keys: Int
}
