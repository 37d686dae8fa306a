import StoreEngine

/// Converts the contents of records of one layout to values by property name, and back.
struct RecordCoding: Sendable {
  private let properties: [Property]
  /// The names, sorted by their bytes.
  private let names: [String]
  /// The index of each property's name in `names`.
  private let locations: [Int]
  /// Whether each value can be found without the code of its type.
  let isReadable: Bool
  /// Whether the values of some types are bytes that only those types can read.
  var hasOpaqueValues: Bool { properties.contains(where: \.isOpaque) }

  private struct Property: Sendable {
    let name: String
    let type: StoredType
    /// Skips a value of a type that only its own code can read.
    let skip: RecordConversion.Skip?
    let isOpaque: Bool

    /// Checks that bytes are exactly one value of an opaque type.
    ///
    /// Otherwise they would damage the values behind it.
    func checkIsWhole(_ bytes: [UInt8]) throws {
      guard let skip else { return }
      var buffer = DataBuffer(bytes)
      do { try skip(&buffer) } catch let error as DataBufferError {
        // The value contains a reference; reading the whole content checks it.
        if error.code == .noStore { return }
        throw ValueFailure("The bytes are not a valid \(type): \(error.message).")
      }
      if buffer.remainingCount > 0 {
        throw ValueFailure(
          "The bytes are not a valid \(type): \(buffer.remainingCount) bytes are left.")
      }
    }
  }

  /// Creates the coding for the properties of a class of the program.
  init(_ properties: [StoredProperty]) {
    self.init(
      properties.map {
        Property(name: $0.name, type: $0.type, skip: $0.skip, isOpaque: $0.type.isOpaque)
      })
  }

  /// Creates the coding for a saved layout; nil if only the kinds of its values are known.
  init?(_ form: SavedLayout.Form) {
    guard case .properties(let saved) = form, Set(saved.map(\.name)).count == saved.count else {
      return nil
    }
    self.init(
      saved.map {
        Property(name: $0.name, type: $0.type, skip: nil, isOpaque: $0.type.isOpaque)
      })
  }

  private init(_ properties: [Property]) {
    self.properties = properties
    let order = properties.indices.sorted {
      properties[$0].name.utf8Order(properties[$1].name) < 0
    }
    names = order.map { properties[$0].name }
    var locations = Array(repeating: 0, count: order.count)
    for (location, index) in order.enumerated() { locations[index] = location }
    self.locations = locations
    // A single value of unknown size can be delimited by the sizes of the values behind it.
    let opaque = properties.lastIndex { $0.isOpaque && $0.skip == nil }
    isReadable =
      opaque.map { last in
        properties[..<last].allSatisfy { !$0.isOpaque || $0.skip != nil }
          && properties[(last + 1)...].allSatisfy { $0.type.byteCount != nil }
      } ?? true
  }
}

/// A property whose value can't be written.
struct PropertyFailure: Error {
  /// The name, and the part of the value, such as "names[2]".
  let property: String
  let words: String

  init(property: String, words: String) { (self.property, self.words) = (property, words) }

  init(_ property: String, _ failure: ValueFailure) {
    self.init(property: property + failure.path, words: failure.description)
  }
}

// MARK: - Parts

extension RecordCoding {
  /// The properties in the order of their bytes.
  var namedTypes: [(name: String, type: StoredType)] { properties.map { ($0.name, $0.type) } }

  /// Returns the bytes of each property of a content.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``.
  func parts(of content: [UInt8]) throws -> [[UInt8]] {
    var buffer = DataBuffer(content)
    let parts = try properties.map { property in
      try buffer.bytesRead { try skip(property, in: &$0) }
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(
        .unreadBytes, at: buffer.offset, "\(buffer.remainingCount) bytes are left")
    }
    return parts
  }
}

// MARK: - Reading

extension RecordCoding {
  /// Reads a whole content.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, and any error of the references.
  func values(
    from buffer: inout DataBuffer, _ references: some ReferenceReading
  ) throws -> StoredValue.Fields {
    var values = Array(repeating: StoredValue.null, count: properties.count)
    for (index, property) in properties.enumerated() {
      values[locations[index]] =
        property.isOpaque
        ? try opaqueValue(property, index, &buffer)
        : try buffer.readPlain(property.type, references)
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(
        .unreadBytes, at: buffer.offset, "\(buffer.remainingCount) bytes are left")
    }
    return StoredValue.Fields(names: names, values: values)
  }

  private func opaqueValue(
    _ property: Property, _ index: Int, _ buffer: inout DataBuffer
  ) throws -> StoredValue {
    let bytes = try buffer.bytesRead { buffer in
      if let skip = property.skip { return try skip(&buffer) }
      let behind = properties[(index + 1)...].reduce(0) { $0 + ($1.type.byteCount ?? 0) }
      try buffer.skip(buffer.remainingCount - behind)
    }
    return [StoredType.bytes: .base64(bytes)]
  }
}

// MARK: - Writing

extension RecordCoding {
  /// Appends a content to a buffer.
  ///
  /// - Parameters:
  ///   - values: The values by property name.
  ///   - base: A content that provides the missing properties; nil if none may be missing.
  ///   - buffer: The buffer to append to.
  ///   - references: Resolves the references.
  /// - Throws: ``PropertyFailure``.
  func write<References: ReferenceWriting>(
    _ values: StoredValue.Fields, over base: DataBuffer?, to buffer: inout DataBuffer,
    _ references: inout References
  ) throws {
    try checkIsKnown(values)
    var base = base
    for property in properties {
      do {
        let range = try base.map { _ in try bytes(of: property, in: &base) }
        if let value = values[property.name] {
          try write(value, property, to: &buffer, &references)
        } else if let range {
          buffer.append(range)
        } else {
          throw ValueFailure("The value is missing.")
        }
      } catch let failure as ValueFailure {
        throw PropertyFailure(property.name, failure)
      }
    }
  }

  /// Checks whether values can be written, some of which may be missing.
  ///
  /// - Throws: ``PropertyFailure``.
  func check<References: ReferenceWriting>(
    _ values: StoredValue.Fields, _ references: inout References
  ) throws {
    try checkIsKnown(values)
    var buffer = DataBuffer()
    for property in properties {
      guard let value = values[property.name] else { continue }
      do {
        try write(value, property, to: &buffer, &references)
      } catch let failure as ValueFailure {
        throw PropertyFailure(property.name, failure)
      }
    }
  }

  /// Whether there is a value for each property.
  func isComplete(_ values: StoredValue.Fields) -> Bool { values.keys == names }

  /// Checks that there is a value for each property.
  ///
  /// - Throws: ``PropertyFailure``.
  func checkForMissing(_ values: StoredValue.Fields) throws {
    if isComplete(values) { return }
    for name in names where values[name] == nil {
      throw PropertyFailure(property: name, words: "The value is missing.")
    }
  }

  private func checkIsKnown(_ values: StoredValue.Fields) throws {
    if values.keys == names { return }
    let known = Set(names)
    for name in values.keys where !known.contains(name) {
      throw PropertyFailure(property: name, words: "The class has no such property.")
    }
  }

  private func bytes(of property: Property, in base: inout DataBuffer?) throws -> [UInt8] {
    try base?.bytesRead { try skip(property, in: &$0) } ?? []
  }

  private func skip(_ property: Property, in buffer: inout DataBuffer) throws {
    // The code of a value outside of records needs a store, and its form does not.
    guard let skip = property.skip, !property.type.isExternal else {
      return try buffer.skip(property.type)
    }
    try skip(&buffer)
  }

  /// Returns the name of the property at an offset of a content.
  func property(at offset: Int, of content: [UInt8]) -> String {
    var buffer = DataBuffer(content)
    let found = properties.first { property in
      (try? skip(property, in: &buffer)) == nil || buffer.offset > offset
    }
    return found?.name ?? properties.last?.name ?? ""
  }

  private func write<References: ReferenceWriting>(
    _ value: StoredValue, _ property: Property, to buffer: inout DataBuffer,
    _ references: inout References
  ) throws {
    guard property.isOpaque else {
      return try buffer.writePlain(value, as: property.type, &references)
    }
    guard case .dictionary(let fields) = try references.whole(value),
      fields.keys == [StoredType.bytes], let bytes = fields[0].value.plainBytes
    else {
      throw ValueFailure(
        """
        Only the code of \(property.type) can read its values: their bytes were expected, as in \
        {"bytes": "AQI="}.
        """)
    }
    try property.checkIsWhole(bytes)
    buffer.append(bytes)
  }
}

/// The names and IDs of the classes of a store.
struct ClassNames: Sendable {
  private var names: [String?] = Array(repeating: nil, count: 256)
  private var ids: [String: UInt8] = [:]

  init(_ classes: some Sequence<(name: String, classID: UInt8)>) {
    for (name, classID) in classes {
      names[Int(classID)] = name
      ids[name] = classID
    }
  }

  func name(of classID: UInt8) -> String? { names[Int(classID)] }
  func id(of name: String) -> UInt8? { ids[name] }
}

/// Reads references as texts such as "Song/42".
struct ReferenceTexts: ReferenceReading {
  let names: ClassNames
  let externals: ExternalTexts

  func value(of className: String, row: UInt32) -> StoredValue { .string("\(className)/\(row)") }
  func className(of classID: UInt8) -> String? { names.name(of: classID) }
  func text(of external: ExternalReference) throws -> String { try externals.text(of: external) }
}
