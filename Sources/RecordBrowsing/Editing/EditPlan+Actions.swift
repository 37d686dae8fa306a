import Foundation
package import StoreEngine
import StoredObjectsCore

extension EditPlan {
  /// Adds a change to the plan; returns the object.
  ///
  /// - Throws: ``BrowsingError``, or an error of reading.
  mutating func add(
    _ action: EditAction, reserve: (BrowsedClass) throws -> UInt32
  ) throws -> ObjectAddress {
    switch action {
    case .set(let address, let version, let values):
      _ = try editable(address, version: version)
      for (name, value) in values { try set(address, name, value) }
      return address
    case .insertReference(let address, let version, let property, let index, let reference):
      try editList(address, version, property) { list in
        try Self.check(index, 0...list.count)
        list.insert(reference, at: index)
      }
      return address
    case .removeReference(let address, let version, let property, let index):
      try editList(address, version, property) { list in
        try Self.check(index, 0...max(0, list.count - 1))
        list.remove(at: index)
      }
      return address
    case .moveReference(let address, let version, let property, let from, let to):
      try editList(address, version, property) { list in
        try Self.check(from, 0...max(0, list.count - 1))
        try Self.check(to, 0...max(0, list.count - 1))
        list.insert(list.remove(at: from), at: to)
      }
      return address
    case .insert(let className, let values):
      return try insert(try state.browsedClass(className), values, reserve)
    case .delete(let address, let version):
      try delete(address, version)
      return address
    }
  }

  private static func check(_ index: Int, _ range: ClosedRange<Int>) throws(BrowsingError) {
    guard range.contains(index) else {
      throw BrowsingError(.invalid, "There is no position \(index) in the list.")
    }
  }

  // MARK: Values

  private mutating func set(_ address: ObjectAddress, _ name: String, _ value: StoredValue) throws {
    let known = try state.browsedClass(address.className)
    guard let record = try record(address), let part = record.part(name) else {
      guard known.property(name) != nil else {
        throw BrowsingError(.notFound, "\(known.name) has no property \"\(name)\".")
      }
      return try replace(address, name, with: [])
    }
    let bytes = try encode(value, part.type, address, name)
    guard bytes != part.bytes else { return }
    try replace(address, name, with: bytes)
    try updateInverses(of: address, name, part.type, from: part.bytes, to: bytes)
  }

  private func encode(
    _ value: StoredValue, _ type: StoredType, _ address: ObjectAddress, _ name: String
  ) throws -> [UInt8] {
    if type.isOpaque || type.isExternal {
      throw BrowsingError(
        .refused, "Only the program can write the property \"\(name)\", a \(type).")
    }
    do {
      let bytes = try state.encoded(value, type)
      try checkReferences(bytes, type)
      return bytes
    } catch let failure as ValueFailure {
      throw BrowsingError(.invalid, "\(name): \(failure.description)")
    }
  }

  private func checkReferences(_ bytes: [UInt8], _ type: StoredType) throws {
    guard let form = type.referenceForm else { return }
    for target in try state.references(bytes, type) {
      guard try record(target) != nil else {
        throw ValueFailure("There is no object \(target).")
      }
      guard let name = form.className, name != target.className else { continue }
      // A store does not know superclasses; an object of the same class shows that one fits.
      guard try hasReference(of: name, to: target.className) else {
        throw ValueFailure("\(target) is not known to be a \(name).")
      }
    }
  }

  /// Whether a reference that is declared with a class already leads to another class.
  private func hasReference(of declared: String, to className: String) throws -> Bool {
    for known in state.classes {
      for property in known.properties where property.type.referenceForm?.className == declared {
        for (row, bytes) in try state.records(
          of: known, .after(0), limit: 500, maximumLookUps: 2000
        ).rows {
          guard let part = (try? known.record(row, bytes))?.part(property.name),
            let found = try? state.references(part.bytes, part.type)
          else { continue }
          if found.contains(where: { $0.className == className }) { return true }
        }
      }
    }
    return false
  }

  // MARK: Lists

  private mutating func editList(
    _ address: ObjectAddress, _ version: String?, _ property: String,
    _ edit: (inout [ObjectAddress]) throws -> Void
  ) throws {
    let record = try editable(address, version: version)
    guard let part = record.part(property), let form = part.type.referenceForm, form.isList else {
      throw BrowsingError(.invalid, "The property \"\(property)\" is no list of objects.")
    }
    var list = try state.references(part.bytes, part.type)
    let count = list.count
    try edit(&list)
    if form.isSet, Set(list).count < list.count, list.count > count {
      throw BrowsingError(.invalid, "The set has this object already.")
    }
    try set(address, property, .array(list.map { StoredValue.string("\($0)") }))
  }

  // MARK: Objects

  private mutating func insert(
    _ known: BrowsedClass, _ values: [(name: String, value: StoredValue)],
    _ reserve: (BrowsedClass) throws -> UInt32
  ) throws -> ObjectAddress {
    try checkIsEditable(known)
    guard let layout = known.layouts.last else {
      throw BrowsingError(.refused, "The store has no layout of \(known.name).")
    }
    let row = try takeRow(of: known) { try reserve(known) }
    let address = ObjectAddress(known.name, row)
    var content: [UInt8] = []
    for property in known.properties {
      guard let value = property.type.newValue else {
        throw BrowsingError(
          .refused,
          """
          Only the program can make the value of "\(property.name)", a \(property.type): insert \
          objects of \(known.name) with it.
          """)
      }
      content += try state.encoded(value, property.type)
    }
    try replace(address, with: known.recordBytes(row, layout: layout.number, content))
    for (name, value) in values { try set(address, name, value) }
    return address
  }

  /// The maximum time of the search for the objects that refer to a deleted one.
  private static let searchTime = Duration.seconds(30)

  private mutating func delete(_ address: ObjectAddress, _ version: String?) throws {
    _ = try editable(address, version: version)
    let known = try state.browsedClass(address.className)
    if let id = known.metadata?.classID,
      let catalogue = try ExternalCatalogue.ifUsed(in: state.backend),
      try !catalogue.values(of: .init(id, address.rowID)).isEmpty
    {
      throw BrowsingError(
        .refused, "\(address) has values outside of its record: delete it with the program.")
    }
    var found: [(ObjectAddress, String)] = []
    let end = try state.forEachReferrer(
      of: address, cursor: nil, limit: .max, time: Self.searchTime
    ) { record, property in
      let referrer = ObjectAddress(record.className, record.rowID)
      if referrer != address { found.append((referrer, property)) }
      return found.count
    }
    guard end.cursor == nil else {
      throw BrowsingError(
        .refused,
        "The search for objects that refer to \(address) takes too long: delete it with the program."
      )
    }
    try checkConfirmed(address, found)
    for (referrer, property) in found { try remove(address, from: referrer, property) }
    try replace(address, with: nil)
  }

  private func checkConfirmed(
    _ address: ObjectAddress, _ found: [(ObjectAddress, String)]
  ) throws(BrowsingError) {
    guard !found.isEmpty, !confirmations.contains(.references) else { return }
    let some = found.prefix(3).map { "\($0.0) (\($0.1))" }.joined(separator: ", ")
    let more = found.count > 3 ? ", and \(found.count - 3) more" : ""
    throw .unconfirmed(
      .references,
      """
      \(found.count == 1 ? "One reference leads" : "\(found.count) references lead") to \(address): \
      \(some)\(more). They are cleared if you delete it. Delete rules of the program do not run.
      """)
  }

  /// Removes all references to an object from a property of another.
  mutating func remove(
    _ address: ObjectAddress, from referrer: ObjectAddress, _ property: String
  ) throws {
    guard let part = try record(referrer)?.part(property), let form = part.type.referenceForm
    else { return }
    let rest = try state.references(part.bytes, part.type).filter { $0 != address }
    let value: StoredValue =
      form.isList ? .array(rest.map { StoredValue.string("\($0)") }) : .null
    try replace(referrer, property, with: state.encoded(value, part.type))
  }
}

extension BrowsingError {
  static func unconfirmed(
    _ confirmation: EditRequest.Confirmation, _ message: String
  ) -> BrowsingError {
    var error = BrowsingError(.unconfirmed, message)
    error.confirmation = confirmation.rawValue
    return error
  }
}

extension StoredType {
  /// The value of a new object in the form of JSON; nil if only the program can make one.
  package var newValue: StoredValue? {
    switch self {
    case .optional, .reference, .anyReference: .null
    case .bool: .bool(false)
    case .integer, .float, .double: .int(0)
    case .string, .data: .string("")
    case .date: .string("2001-01-01T00:00:00Z")
    case .uuid: .string(UUID().uuidString)
    case .array, .set, .references, .referenceSet, .anyReferences, .anyReferenceSet: []
    case .dictionary(.string, _): [:]
    case .dictionary: []
    case .enumeration(let enumeration):
      enumeration.cases.first.map { .string($0.name) } ?? enumeration.rawType.newValue
    case .codable, .external, .custom: nil
    }
  }
}
