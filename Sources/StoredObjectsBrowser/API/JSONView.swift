import Foundation
import RecordBrowsing
import StoreEngine
import StoredObjectsCore

/// The forms of answers, which the page reads.
///
/// Numbers of objects are texts, because JavaScript would round large ones.
enum JSONView {
  static func dictionary(_ fields: [(String, StoredValue?)]) -> StoredValue {
    .dictionary(StoredValue.Fields(fields.compactMap { name, value in value.map { (name, $0) } }))
  }

  static func list(_ values: some Sequence<StoredValue>) -> StoredValue { .array(Array(values)) }

  static func number(_ value: Int) -> StoredValue { .int(Int64(value)) }

  static func cell(_ cell: Cell) -> StoredValue {
    dictionary([
      ("k", .string(cell.kind.rawValue)), ("s", cell.text.isEmpty ? nil : .string(cell.text)),
      ("cut", cell.cutFrom.map(number)), ("n", cell.count.map(number)),
      ("id", cell.id.map { .string($0) }), ("title", cell.title.map { .string($0) }),
      ("items", cell.items.isEmpty ? nil : list(cell.items.map(Self.cell))),
    ])
  }

  static func object(_ view: ObjectView) -> StoredValue {
    dictionary([
      ("id", .string(view.id)), ("title", .string(view.title)), ("version", .string(view.version)),
      ("layout", view.layout.map { number(Int($0)) }), ("bytes", number(view.byteCount)),
      ("hex", view.hex.map { .string($0) }),
      ("before", view.neighbors.before.map { number(Int($0)) }),
      ("after", view.neighbors.after.map { number(Int($0)) }),
      (
        "properties",
        list(
          view.properties.map { property in
            dictionary([
              ("name", .string(property.name)), ("type", .string("\(property.type)")),
              ("value", cell(property.cell)),
            ])
          })
      ),
    ])
  }

  static func property(_ property: SavedLayout.SavedProperty, index: String?) -> StoredValue {
    let form = property.type.referenceForm
    return dictionary([
      ("name", .string(property.name)), ("type", .string("\(property.type)")),
      ("form", .string(self.form(property.type))),
      ("isOptional", .bool(isOptional(property.type))),
      ("target", form.map { .string($0.className ?? "") }),
      ("isList", form.map { .bool($0.isList) }), ("isSet", form.map { .bool($0.isSet) }),
      ("index", index.map { .string($0) }), ("cases", cases(property.type)),
    ])
  }

  private static func isOptional(_ type: StoredType) -> Bool {
    switch type {
    case .optional, .reference, .anyReference: true
    default: false
    }
  }

  /// The way in which the page shows and edits a type.
  private static func form(_ type: StoredType) -> String {
    switch type {
    case .optional(let wrapped): form(wrapped)
    case .bool: "bool"
    case .integer: "integer"
    case .float, .double: "number"
    case .string: "text"
    case .date: "date"
    case .uuid: "uuid"
    case .enumeration: "choice"
    case .reference, .anyReference: "reference"
    case .references, .referenceSet, .anyReferences, .anyReferenceSet: "references"
    case .array, .set, .dictionary, .codable: type.isOpaque || type.isExternal ? "opaque" : "json"
    case .data: "bytes"
    case .external, .custom: "opaque"
    }
  }

  private static func cases(_ type: StoredType) -> StoredValue? {
    switch type {
    case .optional(let wrapped): cases(wrapped)
    case .enumeration(let enumeration) where !enumeration.cases.isEmpty:
      list(enumeration.cases.map { .string($0.name) })
    default: nil
    }
  }

  static func time(_ date: Date?) -> StoredValue? {
    date.map { .string($0.formatted(.iso8601)) }
  }
}
