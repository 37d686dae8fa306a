import StoredObjectsCore

/// A model as Swift source with `@Stored` classes.
package struct SwiftSource {
  private let design: ModelDesign
  private let introduction: [String]
  private let types: SwiftTypes

  /// Creates the source of a model.
  ///
  /// - Parameters:
  ///   - design: The model.
  ///   - introduction: The lines of a comment, before the call that registers the classes.
  package init(_ design: ModelDesign, introduction: [String]) {
    (self.design, self.introduction) = (design, introduction)
    types = SwiftTypes(design)
  }

  /// The lines of the file.
  package var lines: [String] {
    let classes = design.classes.map(declaration) + types.missingClasses.map(missingClass)
    let blocks = [header] + types.declared.map(types.declaration) + classes
    return Array(blocks.joined(separator: [""]))
  }

  private var header: [String] {
    let names = design.classes.map { types.className($0.storedName) + ".self" }
    return introduction.map { "// \($0)" } + [
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

  private func declaration(of known: DesignedClass) -> [String] {
    var names = SwiftNames(reserved: SwiftNames.objectMembers)
    let members = known.properties.flatMap { property in
      declaration(of: property, relationship(property, in: known), &names)
    }
    return note(known)
      + declaration(
        of: known.storedName, version: known.version, members: compoundIndexes(known) + members)
  }

  private func compoundIndexes(_ known: DesignedClass) -> [String] {
    known.compoundIndexes.map { properties in
      let paths = properties.map { "\\.\(SwiftNames.member($0))" }.joined(separator: ", ")
      return "  #Index<\(types.className(known.storedName))>([\(paths)])"
    }
  }

  private func note(_ known: DesignedClass) -> [String] {
    // An error may have several lines.
    (known.note ?? "").split(whereSeparator: \.isNewline).map { "// \($0)" }
  }

  /// Returns the attribute of a relationship; nil for other properties.
  private func relationship(_ property: DesignedProperty, in known: DesignedClass) -> String? {
    var arguments: [String] = []
    if property.deleteRule != .nullify {
      arguments.append("deleteRule: .\(property.deleteRule.rawValue)")
    }
    if let inverse = property.inverse, let target = property.type.target?.className,
      design.names(inverse, of: target, from: property, of: known)
    {
      let path = "\\\(types.className(target)).\(SwiftNames.member(inverse))"
      arguments.append("inverse: \(path)")
    }
    return arguments.isEmpty ? nil : "@Relationship(\(arguments.joined(separator: ", ")))"
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
    of property: DesignedProperty, _ relationship: String?, _ names: inout SwiftNames
  ) -> [String] {
    let name = names.add(property.name)
    let formerNames = property.formerNames
      .filter { SwiftNames.isIdentifier($0) && $0 != name }
      .map { "@Formerly(\(SwiftNames.literal($0)))" }
    let fullText = property.isFullText ? "@FullText" : nil
    let attributes =
      formerNames + [property.index.attribute, fullText, relationship].compactMap(\.self)
    let value = types.defaultValue(property.type).map { " = \($0)" } ?? ""
    let line =
      "  " + attributes.map { $0 + " " }.joined()
      + "var \(SwiftNames.member(name)): \(types.text(property.type))\(value)"
    guard name != property.name else { return [line] }
    return [
      "  // The store has it as \(SwiftNames.literal(property.name)), which can't be its name here.",
      line,
    ]
  }
}

extension DesignedProperty.Index {
  /// The attribute of the property.
  fileprivate var attribute: String? {
    switch self {
    case .none: nil
    case .plain: "@Indexed"
    case .unique: "@Indexed(unique: true)"
    case .folded: "@Indexed(folded: true)"
    }
  }
}

extension ModelDesign {
  /// Whether a property names its inverse in the source.
  ///
  /// The compiler takes it on one side only; here, it is the first side that has it.
  fileprivate func names(
    _ inverse: String, of target: String, from property: DesignedProperty, of known: DesignedClass
  ) -> Bool {
    guard let other = designedClass(target), let counterpart = other.property(inverse),
      counterpart.inverse == property.name,
      counterpart.type.target?.className == known.storedName
    else { return true }
    if other.storedName == known.storedName {
      let names = known.properties.map(\.name)
      return (names.firstIndex(of: property.name) ?? 0) <= (names.firstIndex(of: inverse) ?? 0)
    }
    let first = classes.first { [known.storedName, other.storedName].contains($0.storedName) }
    return first?.storedName == known.storedName
  }
}
