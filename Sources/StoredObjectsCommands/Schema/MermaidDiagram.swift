import Modeling
import StoredObjectsCore

/// A schema as a class diagram of Mermaid: values are properties, references are arrows.
struct MermaidDiagram {
  private let schema: StoreSchema

  init(_ schema: StoreSchema) { self.schema = schema }

  /// The lines of the diagram.
  var lines: [String] {
    ["classDiagram"] + schema.classes.flatMap(declaration)
      + schema.enumerations.flatMap(declaration) + schema.classes.flatMap(arrows)
  }

  private func declaration(of schema: ClassSchema) -> [String] {
    let members = schema.properties.filter { $0.type.target == nil }
      .map { member("\($0.name): \($0.type)") }
    return block(schema.name, members) + note(schema)
  }

  private func declaration(of enumeration: StoredEnumeration) -> [String] {
    block(enumeration.name, ["<<enumeration>>"] + enumeration.cases.map { member($0.name) })
  }

  private func block(_ name: String, _ members: [String]) -> [String] {
    let start = "  class \(identifier(name))"
    if members.isEmpty { return [start] }
    return [start + " {"] + members.map { "    \($0)" } + ["  }"]
  }

  private func note(_ schema: ClassSchema) -> [String] {
    guard let note = schema.note else { return [] }
    return ["  note for \(identifier(schema.name)) \"\(oneLine(note, without: "\""))\""]
  }

  private func arrows(from schema: ClassSchema) -> [String] {
    schema.properties.flatMap { property in
      let (start, name) = (identifier(schema.name), oneLine(property.name, without: ":"))
      if let (target, isToMany) = property.type.target {
        return ["  \(start) --> \"\(isToMany ? "*" : "1")\" \(identifier(target)) : \(name)"]
      }
      return property.type.parts.compactMap { part in
        guard case .enumeration(let enumeration) = part else { return nil }
        return "  \(start) ..> \(identifier(enumeration.name)) : \(name)"
      }
    }
  }

  /// Returns a name, in backticks if necessary.
  private func identifier(_ name: String) -> String {
    let isPlain = SwiftNames.isIdentifier(name) && !Self.keywords.contains(name)
    return isPlain ? name : "`\(oneLine(name, without: "`"))`"
  }

  /// Returns a member with tildes for generic types, and without braces, which would end the class.
  private func member(_ text: String) -> String {
    oneLine(text, without: "{}()")
      .replacing("<", with: "~").replacing(">", with: "~")
  }

  private func oneLine(_ text: String, without characters: String) -> String {
    String(text.map { $0.isNewline ? " " : characters.contains($0) ? "'" : $0 })
  }

  private static let keywords: Set = [
    "call", "callback", "class", "classDef", "click", "cssClass", "direction", "href", "link",
    "namespace", "note", "style",
  ]
}
