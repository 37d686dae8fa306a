import StoredObjectsCore

extension ModelDesign {
  /// The errors because of which the source of the model would not compile or register.
  ///
  /// Complexity: linear in the number of properties.
  package var errors: [DesignFinding] {
    nameErrors
      + classes.flatMap { known in
        known.properties.flatMap { errors($0, in: known) }
          + known.compoundIndexErrors.map { .init(.error, $0, in: known.name) }
      }
  }

  /// The number of classes that a store can register.
  private static let maximumClassCount = 256

  /// The errors in the names of classes, enumerations and properties.
  package var nameErrors: [DesignFinding] {
    var findings: [DesignFinding] = []
    var names: Set<String> = []
    for known in classes {
      let name = known.name
      if !SwiftNames.isTypeName(name) {
        findings.append(.init(.error, "\"\(name)\" can't be the name of a class.", in: name))
      } else if !names.insert(name).inserted {
        findings.append(.init(.error, "Two classes are named \(name).", in: name))
      }
      let doubles = Dictionary(grouping: known.properties, by: \.name).filter { $1.count > 1 }
      findings += doubles.keys.sorted().map {
        .init(.error, "Two properties of \(name) are named \($0).", in: name, property: $0)
      }
    }
    if classes.count > Self.maximumClassCount {
      findings.append(.init(.error, "A store has at most \(Self.maximumClassCount) classes."))
    }
    return findings + enumerationNameErrors
  }

  private func errors(_ property: DesignedProperty, in known: DesignedClass) -> [DesignFinding] {
    var texts: [String] = []
    let name = property.name
    if !SwiftNames.isIdentifier(name) {
      texts.append("\"\(name)\" can't be the name of a property.")
    } else if SwiftNames.objectMembers.contains(name) {
      texts.append("Every object has a member \(name), so no property can have this name.")
    }
    texts += indexErrors(property) + relationshipErrors(property, in: known)
    return texts.map { .init(.error, $0, in: known.name, property: name) }
  }

  private func indexErrors(_ property: DesignedProperty) -> [String] {
    let (type, isText) = (property.type, property.type.isTextOrNil)
    var texts: [String] = []
    if property.isFullText, !isText {
      texts.append("A full-text index takes String or String?, not \(type).")
    }
    switch property.index {
    case .none: break
    case .folded where !isText:
      texts.append("An index without case and accents takes String or String?, not \(type).")
    case .unique where type.target?.isToMany == true:
      texts.append("A list of objects can't be unique.")
    case .plain, .unique, .folded:
      if !type.isIndexable { texts.append("An index can't have values of \(type).") }
    }
    return texts
  }

  private func relationshipErrors(
    _ property: DesignedProperty, in known: DesignedClass
  ) -> [String] {
    guard let target = property.type.target else {
      let isPlain = property.inverse == nil && property.deleteRule == .nullify
      return isPlain ? [] : ["Only a property with objects has an inverse or a delete rule."]
    }
    guard let inverse = property.inverse else { return [] }
    guard let other = designedClass(target.className) else {
      return ["An inverse is a property of one class, and \(property.name) has objects of any."]
    }
    if other.storedName == known.storedName, inverse == property.name {
      return ["A property can't be its own inverse."]
    }
    guard let counterpart = other.property(inverse) else {
      return ["\(other.name) has no property \(inverse)."]
    }
    guard counterpart.type.target?.className == known.storedName else {
      return ["\(other.name).\(inverse) does not refer to \(known.name)."]
    }
    if let back = counterpart.inverse, back != property.name {
      return ["\(other.name).\(inverse) has the inverse \(back)."]
    }
    return []
  }
}

extension DesignedClass {
  /// The errors in the indexes of several properties.
  fileprivate var compoundIndexErrors: [String] {
    var names: Set<String> = []
    return compoundIndexes.flatMap { properties in
      let name = Self.indexName(properties)
      var texts = properties.compactMap(compoundIndexError)
      if !(2...3).contains(properties.count) {
        texts.append("An index of several properties has two or three, not \(properties.count).")
      }
      if Set(properties).count < properties.count {
        texts.append("The index \"\(name)\" has a property twice.")
      } else if !names.insert(name).inserted {
        texts.append("There are two indexes of \(name).")
      }
      return texts
    }
  }

  private func compoundIndexError(_ name: String) -> String? {
    guard let type = property(name)?.type else { return "\(self.name) has no property \(name)." }
    if type.target?.isToMany == true { return "A list can't be a part of an index: \(name)." }
    return type.isIndexable ? nil : "An index can't have values of \(type): \(name)."
  }
}

extension StoredType {
  /// Whether values are texts, or nil.
  var isTextOrNil: Bool {
    switch self {
    case .string, .optional(.string): true
    default: false
    }
  }

  /// Whether a property of the type can have an index.
  var isIndexable: Bool {
    switch self {
    case .optional(let wrapped): wrapped.isIndexable
    case .bool, .integer, .float, .double, .string, .date, .uuid, .data, .enumeration: true
    case .codable(let name): ["URL", "Decimal"].contains(name)
    case .reference, .references, .referenceSet: true
    default: false
    }
  }
}

extension SwiftNames {
  /// Whether a text can be the name of a class or an enumeration of a model.
  static func isTypeName(_ text: String) -> Bool {
    isIdentifier(text) && !types.contains(text)
  }
}
