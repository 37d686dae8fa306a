import Modeling
import RecordBrowsing
import StoreEngine
import StoredObjectsCore

extension BrowserSession {
  /// Returns the model of the store, for the editor.
  func design(_ call: APICall) throws -> StoredValue {
    let design = try ModelDesign(of: state(call))
    let types = SwiftTypes(design)
    let reader = TypeReader(classes: [:], typesOf: design)
    return JSONView.dictionary([
      ("types", JSONView.list(reader.names.map { .string($0) })),
      ("classes", JSONView.list(design.classes.map { JSONView.designed($0, types) })),
    ])
  }

  /// Returns the source of the model that a page has sent, and what it would do to the store.
  ///
  /// The store does not change.
  func examine(_ call: APICall) throws -> StoredValue {
    let state = try state(call)
    let (design, failures) = try DesignReader(state).design(call.json())
    // A property without a type would also be missing as an inverse.
    let errors = failures.isEmpty ? design.errors : design.nameErrors + failures
    let findings = try errors.isEmpty ? design.effects(on: state) : errors
    let hasErrors = findings.contains { $0.kind == .error }
    return JSONView.dictionary([
      (
        "source",
        errors.isEmpty ? .string(Self.source(of: design).joined(separator: "\n") + "\n") : nil
      ),
      ("isSound", .bool(!hasErrors)),
      (
        "findings",
        JSONView.list(
          findings.map {
            JSONView.dictionary([
              ("kind", .string($0.kind.rawValue)), ("class", $0.className.map { .string($0) }),
              ("property", $0.property.map { .string($0) }), ("text", .string($0.text)),
            ])
          })
      ),
    ])
  }

  private static func source(of design: ModelDesign) -> [String] {
    SwiftSource(design, introduction: ["The classes of a model. Register them:"]).lines
  }
}

extension JSONView {
  /// The form of a class in the editor of models.
  fileprivate static func designed(_ known: DesignedClass, _ types: SwiftTypes) -> StoredValue {
    dictionary([
      ("name", .string(known.name)), ("storedName", .string(known.storedName)),
      ("version", number(Int(known.version))), ("note", known.note.map { .string($0) }),
      (
        "compoundIndexes",
        list(known.compoundIndexes.map { names in list(names.map { .string($0) }) })
      ),
      (
        "properties",
        list(
          known.properties.map { property in
            dictionary([
              ("name", .string(property.name)), ("type", .string(types.text(property.type))),
              ("formerNames", list(property.formerNames.map { .string($0) })),
              ("index", .string(property.index.rawValue)),
              ("isFullText", .bool(property.isFullText)),
              ("inverse", property.inverse.map { .string($0) }),
              ("deleteRule", .string(property.deleteRule.rawValue)),
            ])
          })
      ),
    ])
  }
}

/// Reads the model in a request of the page.
private struct DesignReader {
  private let state: BrowsedState

  init(_ state: BrowsedState) { self.state = state }

  /// Returns a model, and the errors in the types of its properties.
  func design(_ value: StoredValue) throws -> (ModelDesign, [DesignFinding]) {
    guard case .dictionary(let fields) = value, case .array(let classes)? = fields["classes"] else {
      throw BrowsingError(.invalid, "The request has no classes.")
    }
    let named = try classes.map(Self.named)
    let reader = TypeReader(
      classes: Dictionary(named.map { ($0.class.name, $0.class.storedName) }) { first, _ in first },
      typesOf: ModelDesign(layoutsOf: state))
    var findings: [DesignFinding] = []
    var design = ModelDesign()
    for (var known, fields) in named {
      for property in try Self.list(fields, "properties") {
        do {
          known.properties.append(try Self.property(property, reader))
        } catch let failure as TypeReader.Failure {
          let name = try Self.text(Self.fields(property), "name")
          findings.append(
            .init(.error, failure.description, in: known.name, property: name))
        }
      }
      design.classes.append(known)
    }
    return (design, findings)
  }

  private static func named(
    _ value: StoredValue
  ) throws(BrowsingError) -> (class: DesignedClass, fields: StoredValue.Fields) {
    let fields = try fields(value)
    guard case .int(let version)? = fields["version"], let version = UInt8(exactly: version) else {
      throw BrowsingError(.invalid, "The version of a class is a number from 0 to 255.")
    }
    var known = DesignedClass(
      try text(fields, "name"), storedName: try text(fields, "storedName"), version: version)
    for case .array(let names) in try list(fields, "compoundIndexes") {
      known.compoundIndexes.append(
        names.compactMap { if case .string(let name) = $0 { name } else { nil } })
    }
    return (known, fields)
  }

  private static func property(
    _ value: StoredValue, _ reader: TypeReader
  ) throws -> DesignedProperty {
    let fields = try fields(value)
    var property = DesignedProperty(
      try text(fields, "name"), try reader.type(text(fields, "type")))
    for case .string(let name) in try list(fields, "formerNames") {
      property.formerNames.append(name)
    }
    guard let index = DesignedProperty.Index(rawValue: try text(fields, "index")),
      let rule = Relationship.DeleteRule(rawValue: try text(fields, "deleteRule"))
    else { throw BrowsingError(.invalid, "An index or a delete rule is of no known kind.") }
    (property.index, property.deleteRule) = (index, rule)
    property.isFullText = fields["isFullText"] == .bool(true)
    if case .string(let inverse)? = fields["inverse"], !inverse.isEmpty {
      property.inverse = inverse
    }
    return property
  }

  private static func fields(_ value: StoredValue) throws(BrowsingError) -> StoredValue.Fields {
    if case .dictionary(let fields) = value { return fields }
    throw BrowsingError(.invalid, "A class or a property of the model is not an object of JSON.")
  }

  private static func text(
    _ fields: StoredValue.Fields, _ name: String
  ) throws(BrowsingError) -> String {
    if case .string(let text)? = fields[name] { return text }
    throw BrowsingError(.invalid, "The model has no text \"\(name)\".")
  }

  private static func list(
    _ fields: StoredValue.Fields, _ name: String
  ) throws(BrowsingError) -> [StoredValue] {
    if case .array(let values)? = fields[name] { return Array(values) }
    throw BrowsingError(.invalid, "The model has no list \"\(name)\".")
  }
}
