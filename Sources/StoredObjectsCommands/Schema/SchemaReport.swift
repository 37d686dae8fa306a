import Modeling
import RecordBrowsing
import StoredObjectsCore

/// A schema in JSON, with all layouts.
struct SchemaReport: Encodable {
  var path: String
  var classes: [Class]
  /// The enumerations of the newest layouts.
  var enumerations: [Enumeration]

  struct Class: Encodable {
    var name: String
    var classID: UInt8?
    var objects: Int
    /// The layouts in the order of their numbers, the newest last.
    var layouts: [Layout]
    var note: String?
    var damage: String?
  }

  struct Layout: Encodable {
    var number: UInt8
    var version: UInt8
    /// Whether more than the kinds of values is known.
    var isDeclared: Bool
    var properties: [Property]
    /// The names of properties that only the previous layout has.
    var removed: [String]
  }

  struct Property: Encodable {
    var name: String
    var type: String
    var formerNames: [String]
    /// The class that the property refers to; absent for values.
    var target: String?
    var isToMany: Bool?
    /// The difference from the property in the previous layout.
    var change: String?
  }

  struct Enumeration: Encodable {
    var name: String
    var rawType: String
    var cases: [Case]

    struct Case: Encodable {
      var name: String
      /// The raw value as a literal.
      var value: String?
    }
  }
}

extension SchemaReport {
  init(_ schema: StoreSchema) {
    path = schema.path
    classes = schema.classes.map(Class.init)
    enumerations = schema.enumerations.map(Enumeration.init)
  }
}

extension SchemaReport.Class {
  init(_ schema: ClassSchema) {
    (name, classID, objects) = (schema.name, schema.classID, schema.objects)
    (note, damage) = (schema.damage == nil ? schema.note : nil, schema.damage)
    let earlier = [nil] + schema.layouts.map(Optional.some)
    layouts = zip(earlier, schema.layouts).map(SchemaReport.Layout.init)
  }
}

extension SchemaReport.Layout {
  init(_ former: SavedLayout?, _ layout: SavedLayout) {
    (number, version, isDeclared) = (layout.number, layout.classVersion, !layout.isOfValues)
    let changes = LayoutChanges(from: former, to: layout)
    properties = zip(layout.browsedProperties, changes.texts).map(SchemaReport.Property.init)
    removed = changes.removed.map(\.name)
  }
}

extension SchemaReport.Property {
  init(_ property: SavedLayout.SavedProperty, _ change: String?) {
    (name, type, formerNames) = (property.name, property.type.description, property.formerNames)
    (target, isToMany) = (property.type.target?.className, property.type.target?.isToMany)
    self.change = change
  }
}

extension SchemaReport.Enumeration {
  init(_ enumeration: StoredEnumeration) {
    (name, rawType) = (enumeration.name, enumeration.rawType.description)
    cases = enumeration.cases.map { .init(name: $0.name, value: $0.literal(enumeration.rawType)) }
  }
}
