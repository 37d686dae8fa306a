import StoreEngine
package import StoredObjectsCore

extension BrowsedClass {
  /// Names of properties that say what an object is, the most telling first.
  private static let tellingNames = [
    "title", "name", "label", "displayName", "fullName", "subject", "headline", "caption", "email",
    "text", "summary", "key", "code",
  ]

  /// The property whose value is the title of an object; nil if no property is a text.
  package var titleProperty: String? {
    let texts = properties.filter { $0.type.isText }.map(\.name)
    for name in Self.tellingNames {
      if let found = texts.first(where: { $0.lowercased() == name.lowercased() }) { return found }
    }
    return texts.first { $0.lowercased().hasSuffix("name") } ?? texts.first
  }
}

extension StoredType {
  /// Whether values are texts, or nil.
  var isText: Bool {
    switch self {
    case .string: true
    case .optional(let wrapped): wrapped.isText
    default: false
    }
  }

  /// Whether values are references to one object, or to several.
  package var referenceForm: ReferenceForm? {
    switch self {
    case .reference(let name): .init(className: name, isList: false, isSet: false)
    case .references(let name): .init(className: name, isList: true, isSet: false)
    case .referenceSet(let name): .init(className: name, isList: true, isSet: true)
    case .anyReference: .init(className: nil, isList: false, isSet: false)
    case .anyReferences: .init(className: nil, isList: true, isSet: false)
    case .anyReferenceSet: .init(className: nil, isList: true, isSet: true)
    default: nil
    }
  }
}

/// The objects that a property refers to.
package struct ReferenceForm: Hashable, Sendable {
  /// The declared class; nil for any class.
  package let className: String?
  /// Whether there may be several.
  package let isList: Bool
  /// Whether they have no order.
  package let isSet: Bool
}

extension BrowsedState {
  /// Returns a short title of an object; nil if there is no such object.
  package func title(of address: ObjectAddress) -> String? {
    guard let known = try? browsedClass(address.className) else { return nil }
    do {
      return try record(address.rowID, known).map { title(of: $0, known) }
    } catch {
      return "damaged"
    }
  }

  /// Returns a short title of a record.
  func title(of record: BrowsedRecord, _ known: BrowsedClass) -> String {
    let limits = CellLimits(characters: 80, items: 0)
    if let name = known.titleProperty, let part = record.part(name) {
      let text = cell(part.bytes, part.type, limits).text
      if !text.isEmpty { return text }
    }
    for (index, property) in record.properties.enumerated() where property.type.isText {
      let text = cell(Array(record.bytes[record.ranges[index]]), property.type, limits).text
      if !text.isEmpty { return text }
    }
    return "\(known.name) \(record.rowID)"
  }
}
