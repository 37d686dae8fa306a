import Modeling
import RecordBrowsing
import StoredObjectsCore

/// A schema as readable text.
struct SchemaText {
  private let schema: StoreSchema
  private let showsHistory: Bool

  /// Creates the text of the newest layouts, or of all.
  init(_ schema: StoreSchema, showsHistory: Bool) {
    (self.schema, self.showsHistory) = (schema, showsHistory)
  }

  /// The lines of the text.
  var lines: [String] {
    [schema.path] + schema.classes.flatMap(lines) + schema.enumerations.map(line)
  }

  private func lines(of schema: ClassSchema) -> [String] {
    let number = schema.classID.map { "\($0)" } ?? "?"
    var start = "\(number)  \(schema.name): \(counted(schema.objects, "object", "objects"))"
    if let newest = schema.newest, !showsHistory { start += ", \(newest.title)" }
    if let note = schema.note { start += "; \(note)" }
    return [start] + (showsHistory ? history(of: schema) : properties(of: schema))
  }

  private func properties(of schema: ClassSchema) -> [String] {
    schema.properties.map { property in
      let formerly = property.formerNames.joined(separator: ", ")
      return "     \(property.text)" + (formerly.isEmpty ? "" : ", formerly \(formerly)")
    }
  }

  private func history(of schema: ClassSchema) -> [String] {
    var lines: [String] = []
    var former: SavedLayout?
    for layout in schema.layouts {
      let changes = LayoutChanges(from: former, to: layout)
      lines.append("   \(layout.title)" + (changes.isReordered ? ", in another order" : ""))
      for (property, text) in zip(layout.browsedProperties, changes.texts) {
        lines.append("     \(property.text)" + (text.map { ", \($0)" } ?? ""))
      }
      lines += changes.removed.map { "     - \($0.text)" }
      former = layout
    }
    return lines
  }

  private func line(of enumeration: StoredEnumeration) -> String {
    let cases = enumeration.cases.map { item in
      item.literal(enumeration.rawType).map { "\(item.name) = \($0)" } ?? item.name
    }
    let text = cases.isEmpty ? "unknown cases" : cases.joined(separator: ", ")
    return "enum \(enumeration.name): \(enumeration.rawType): \(text)"
  }
}

extension SavedLayout {
  fileprivate var title: String { "layout \(number), version \(classVersion)" }
}

extension SavedLayout.SavedProperty {
  fileprivate var text: String { "\(name): \(type)" }
}
