package import StoredObjectsCore

/// A model: classes with their properties, relationships and indexes.
package struct ModelDesign: Hashable, Sendable {
  /// The classes, in the order of their registration.
  package var classes: [DesignedClass]
  /// The enumerations that the source declares even if no property has them.
  package var enumerations: [StoredEnumeration] = []

  /// Creates a model.
  package init(_ classes: [DesignedClass] = []) { self.classes = classes }

  /// Returns the class that has a name in the store.
  func designedClass(_ storedName: String) -> DesignedClass? {
    classes.first { $0.storedName == storedName }
  }
}

/// A class of a model.
package struct DesignedClass: Hashable, Sendable {
  /// The name in the source.
  package var name: String
  /// The name in the store.
  package var storedName: String
  /// The version that the class declares.
  package var version: UInt8
  /// The properties, in the order of the record.
  package var properties: [DesignedProperty]
  /// The properties of each index of several properties, the most significant first.
  package var compoundIndexes: [[String]] = []
  /// A remark for readers of the source.
  package var note: String?

  /// Creates a class; without a name, it has its name in the store.
  package init(
    _ name: String? = nil, storedName: String, version: UInt8 = 0,
    properties: [DesignedProperty] = [], note: String? = nil
  ) {
    (self.name, self.storedName, self.version) = (name ?? storedName, storedName, version)
    (self.properties, self.note) = (properties, note)
  }

  func property(_ name: String) -> DesignedProperty? { properties.first { $0.name == name } }

  /// Returns the name in the store of an index of several properties.
  static func indexName(_ properties: [String]) -> String {
    properties.joined(separator: IndexNames.betweenProperties)
  }
}

/// A property of a class of a model.
package struct DesignedProperty: Hashable, Sendable {
  /// The name.
  package var name: String
  /// The form of the values; references have the names that classes have in the store.
  package var type: StoredType
  /// The names that the property had before.
  package var formerNames: [String]
  /// The index.
  package var index = Index.none
  /// Whether a full-text index has the property.
  package var isFullText = false
  /// The name of the inverse in the class that the property refers to.
  package var inverse: String?
  /// The effect of deleting the object on the objects that it refers to.
  package var deleteRule = Relationship.DeleteRule.nullify

  /// The kinds of indexes.
  package enum Index: String, CaseIterable, Sendable {
    /// The property has no index.
    case none
    /// Objects are found by the value.
    case plain
    /// No two objects have the same value.
    case unique
    /// Texts are found without regard to case and accents.
    case folded
  }

  /// Creates a property.
  package init(_ name: String, _ type: StoredType, formerNames: [String] = []) {
    (self.name, self.type, self.formerNames) = (name, type, formerNames)
  }

  /// Creates a property of a layout.
  package init(_ property: SavedLayout.SavedProperty) {
    self.init(property.name, property.type, formerNames: property.formerNames)
  }

  /// The name that the index has in the store; nil without an index.
  var indexName: String? {
    switch index {
    case .none: nil
    case .plain, .unique: name
    case .folded: "folded \(name)"
    }
  }
}
