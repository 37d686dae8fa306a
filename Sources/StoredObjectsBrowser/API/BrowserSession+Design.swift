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
      ("enumerations", JSONView.list(types.enumerations.map { JSONView.designed($0, types) })),
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
  /// The form of an enumeration in the editor of models.
  fileprivate static func designed(
    _ enumeration: StoredEnumeration, _ types: SwiftTypes
  ) -> StoredValue {
    dictionary([
      ("name", .string(enumeration.name)), ("saved", .string(enumeration.name)),
      ("rawType", .string(types.text(enumeration.rawType))),
      ("cases", .string(enumeration.caseText ?? "")),
    ])
  }

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
