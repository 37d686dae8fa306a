import Modeling
import RecordBrowsing
import StoreEngine
import StoredObjectsCore

/// Reads the model in a request of the page.
struct DesignReader {
  private let state: BrowsedState

  init(_ state: BrowsedState) { self.state = state }

  /// Returns a model, and the errors in the types of its properties and in its enumerations.
  func design(_ value: StoredValue) throws -> (ModelDesign, [DesignFinding]) {
    guard case .dictionary(let fields) = value, case .array(let classes)? = fields["classes"] else {
      throw BrowsingError(.invalid, "The request has no classes.")
    }
    let named = try classes.map(Self.named)
    let stored = ModelDesign(layoutsOf: state)
    var design = ModelDesign()
    var findings: [DesignFinding] = []
    // A page from before has none in its requests, and its types are those of the store.
    let enumerations =
      fields["enumerations"] == nil
      ? nil : try Self.enumerations(fields, SwiftTypes(stored).enumerations, &findings)
    design.enumerations = enumerations ?? []
    let reader = TypeReader(
      classes: Dictionary(named.map { ($0.class.name, $0.class.storedName) }) { first, _ in first },
      typesOf: stored, enumerations: enumerations)
    findings += design.enumerations.map(\.name).filter(reader.fixedNames.contains).map {
      .init(
        .error, "The store has a type \($0) already. Choose another name for the enumeration.",
        in: $0)
    }
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

  /// Returns the enumerations; one with an error in its cases has none.
  private static func enumerations(
    _ fields: StoredValue.Fields, _ stored: [StoredEnumeration],
    _ findings: inout [DesignFinding]
  ) throws -> [StoredEnumeration] {
    let stored = Dictionary(stored.map { ($0.name, $0) }) { first, _ in first }
    return try list(fields, "enumerations").map { value in
      let fields = try Self.fields(value)
      guard let rawType = StoredType.rawType(named: try text(fields, "rawType")) else {
        throw BrowsingError(.invalid, "An enumeration has raw values of no known type.")
      }
      var enumeration = StoredEnumeration(
        name: try text(fields, "name"), rawType: rawType, cases: [])
      do {
        enumeration.cases = try CaseReader(rawType: rawType).cases(text(fields, "cases"))
      } catch let failure as CaseReader.Failure {
        findings.append(.init(.error, failure.description, in: enumeration.name))
      }
      guard case .string(let saved)? = fields["saved"], let old = stored[saved] else {
        return enumeration
      }
      return enumeration.renamingCases(of: old)
    }
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
    throw BrowsingError(.invalid, "A part of the model is not an object of JSON.")
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
