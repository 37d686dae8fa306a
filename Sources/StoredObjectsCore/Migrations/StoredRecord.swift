public import StoreEngine

/// A record of a store whose values you read by the names of its properties.
///
///     let name = try record.value("artistName", as: String.self)
///     let genre = try record.id("genre")
///
/// The record has the properties that its class had when the object was last saved.
public struct StoredRecord {
  /// The object that the record belongs to.
  public let id: ObjectID<StoredObject>
  let reader: RecordReader
  /// The content, from the first property on.
  let content: DataBuffer
  let layout: SavedLayout

  /// The row of the object in its class.
  public var rowID: UInt32 { id.rowID }

  /// The names of the properties, in order.
  public var propertyNames: [String] { properties.map(\.name) }

  var properties: [SavedLayout.SavedProperty] {
    if case .properties(let properties) = layout.form { properties } else { [] }
  }

  /// Returns the value of a property.
  ///
  /// The value is converted to the requested type if that loses nothing, as for a changed class,
  /// see <doc:ChangingAClass>.
  ///
  /// Complexity: linear in the number of properties and the size of the value.
  ///
  /// - Parameters:
  ///   - name: The name that the property had when the record was saved.
  ///   - type: The type of the value; for an optional property, the type without `?`.
  /// - Returns: The value; nil if it is nil, or if the record has no such property.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument` (no layout of the class has the
  ///   property, or its values have another type) or `damaged`.
  public func value<Value: DataBufferValue>(
    _ name: String, as type: Value.Type = Value.self
  ) throws -> Value? {
    try read(name) { buffer, type in
      let new = Value.storedType
      var type = type
      if type.withoutNames != new.withoutNames, case .optional(let wrapped) = type {
        guard try buffer.readBool() else { return nil }
        type = wrapped
      }
      guard let conversion = StoredConversion(from: type, to: new) else {
        throw wrongType(name, type, "\(Value.self)")
      }
      var output = DataBuffer()
      try buffer.convert(type, by: conversion, to: &output) { name throws(DataBufferError) in
        throw DataBufferError(.unknownClass, at: 0, name)
      }
      output.rewind()
      return try Value(from: &output)
    }
  }

  /// Returns the value of a property whose type is only `Codable`.
  ///
  /// Complexity: linear in the number of properties and the size of the value.
  ///
  /// - Returns: The value; nil if the record has no such property.
  /// - Throws: The errors of ``value(_:as:)``.
  public func codable<Value: Decodable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws -> Value? {
    try read(name) { buffer, type in
      guard case .codable = type else { throw wrongType(name, type, "\(Value.self)") }
      return try buffer.readCodable(Value.self)
    }
  }

  /// Returns the ID of the object that a property refers to.
  ///
  /// Complexity: linear in the number of properties and the size of the record before the value.
  ///
  /// - Returns: The ID; nil if the reference is nil, or if the record has no such property.
  /// - Throws: The errors of ``value(_:as:)``.
  public func id(_ name: String) throws -> ObjectID<StoredObject>? {
    try read(name) { buffer, type in
      switch type {
      case .reference(let className): try buffer.readID(of: className, reader.classNames)
      case .anyReference: try buffer.readAnyID(reader.classNames)
      default: throw wrongType(name, type, "reference")
      }
    }
  }

  /// Returns the IDs of the objects that a list or a set refers to.
  ///
  /// Complexity: linear in the number of references and in the sizes of the properties before it.
  ///
  /// - Returns: The IDs in order; none if the record has no such property.
  /// - Throws: The errors of ``value(_:as:)``.
  public func ids(_ name: String) throws -> [ObjectID<StoredObject>] {
    try read(name) { buffer, type in
      switch type {
      case .references(let className), .referenceSet(let className):
        try buffer.readIDs(of: className, reader.classNames)
      case .anyReferences, .anyReferenceSet: try buffer.readAnyIDs(reader.classNames)
      default: throw wrongType(name, type, "list of references")
      }
    } ?? []
  }

  // MARK: Properties

  /// Returns a buffer at the value of a property, and the type of the value.
  func find(_ name: String) throws -> (DataBuffer, StoredType)? {
    guard let index = properties.firstIndex(where: { $0.name == name }) else {
      if reader.knows(name) { return nil }
      throw StoreError(
        .invalidArgument, "The class has never had a property \"\(name)\".", at: location)
    }
    var buffer = content
    try reading(name) {
      for property in properties[..<index] { try reader.skip(property.type, in: &buffer) }
    }
    return (buffer, properties[index].type)
  }

  private func read<Value>(
    _ name: String, _ body: (inout DataBuffer, StoredType) throws -> Value?
  ) throws -> Value? {
    guard var found = try find(name) else { return nil }
    return try reading(name) { try body(&found.0, found.1) }
  }

  private func reading<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as DataBufferError {
      throw StoreError(
        .damaged, "The property \"\(name)\" can't be read: \(error).", at: location,
        underlying: error)
    }
  }

  private func wrongType(_ name: String, _ type: StoredType, _ wanted: String) -> StoreError {
    StoreError(
      .invalidArgument, "The property \"\(name)\" has the type \(type), and not \(wanted).",
      at: location)
  }

  private var location: StoreError.Location {
    .init(path: reader.store.backend.location, className: id.className, rowID: rowID)
  }
}

extension DataBuffer {
  typealias AnyID = ObjectID<StoredObject>

  mutating func readID(
    of className: String, _ names: [UInt8: String]
  ) throws(DataBufferError) -> AnyID? {
    let rowID = try readUInt32()
    if rowID == ClassMetadata.rowID { return try readAnyID(names) }
    return rowID == 0 ? nil : AnyID(className: className, rowID: rowID)
  }

  mutating func readAnyID(
    _ names: [UInt8: String]
  ) throws(DataBufferError) -> AnyID? {
    let before = offset
    let (classID, rowID) = (try readUInt8(), try readUInt32())
    if rowID == 0 { return nil }
    guard let name = names[classID] else {
      throw DataBufferError(.unknownClass, at: before, "no class has the ID \(classID)")
    }
    return AnyID(className: name, rowID: rowID)
  }

  mutating func readIDs(
    of className: String, _ names: [UInt8: String]
  ) throws(DataBufferError) -> [AnyID] {
    let (count, hasClasses) = try readReferenceCount()
    var ids: [AnyID] = []
    for _ in 0..<count {
      let id = hasClasses ? try readAnyID(names) : try readID(of: className, names)
      if let id { ids.append(id) }
    }
    return ids
  }

  mutating func readAnyIDs(
    _ names: [UInt8: String]
  ) throws(DataBufferError) -> [AnyID] {
    var ids: [AnyID] = []
    for _ in 0..<(try readCount(minimumElementSize: 5)) {
      if let id = try readAnyID(names) { ids.append(id) }
    }
    return ids
  }
}
