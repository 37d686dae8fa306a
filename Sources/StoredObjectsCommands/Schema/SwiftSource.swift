import StoredObjectsCore

/// A schema as Swift source with `@Stored` classes.
struct SwiftSource {
  private let schema: StoreSchema
  private let types: SwiftTypes

  init(_ schema: StoreSchema) {
    self.schema = schema
    types = SwiftTypes(schema)
  }

  /// The lines of the file.
  var lines: [String] {
    let classes = schema.classes.map(declaration) + types.missingClasses.map(missingClass)
    let blocks = [header] + types.declared.map(types.declaration) + classes
    return Array(blocks.joined(separator: [""]))
  }

  private var header: [String] {
    let names = schema.classes.map { types.className($0.name) + ".self" }
    return [
      "// The classes of a store, from its layouts. The store does not keep defaults, superclasses and",
      "// indexes. Register the classes:",
      "//",
      "//     try store.register(\(names.joined(separator: ", ")))",
      "",
      "import Foundation",
      "import StoredObjects",
    ]
  }

  private func missingClass(_ name: String) -> [String] {
    ["// Others refer to this class; the store has no objects of it."]
      + declaration(of: name, version: 0, members: [])
  }

  private func declaration(of schema: ClassSchema) -> [String] {
    var names = SwiftNames(reserved: SwiftNames.objectMembers)
    let members = schema.properties.flatMap { property in declaration(of: property, &names) }
    return note(schema)
      + declaration(
        of: schema.name, version: schema.newest?.classVersion ?? 0, members: members)
  }

  private func note(_ schema: ClassSchema) -> [String] {
    // An error may have several lines.
    (schema.note ?? "").split(whereSeparator: \.isNewline).map { "// \($0)" }
  }

  private func declaration(of storedName: String, version: UInt8, members: [String]) -> [String] {
    let name = types.className(storedName)
    let stored = version > 0 ? "@Stored(version: \(version))" : "@Stored"
    let start = "\(stored) final class \(name): StoredObject {"
    let override =
      name == storedName
      ? []
      : ["  override class var storedName: String { \(SwiftNames.literal(storedName)) }"]
    let all = override + members
    return all.isEmpty ? [start + "}"] : [start] + all + ["}"]
  }

  private func declaration(
    of property: SavedLayout.SavedProperty, _ names: inout SwiftNames
  ) -> [String] {
    let name = names.add(property.name)
    let formerNames = property.formerNames
      .filter { SwiftNames.isIdentifier($0) && $0 != name }
      .map { "@Formerly(\(SwiftNames.literal($0))) " }
    let value = types.defaultValue(property.type).map { " = \($0)" } ?? ""
    let line =
      "  \(formerNames.joined())var \(SwiftNames.member(name)): \(types.text(property.type))\(value)"
    guard name != property.name else { return [line] }
    return [
      "  // The store has it as \(SwiftNames.literal(property.name)), which can't be its name here.",
      line,
    ]
  }
}
