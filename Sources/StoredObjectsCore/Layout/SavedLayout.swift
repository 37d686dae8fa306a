package import StoreEngine

/// A layout of records in a store.
package struct SavedLayout: Sendable {
  /// The first byte of the records.
  package let number: UInt8
  /// The version that the class declared.
  package let classVersion: UInt8
  /// The properties of the records, or the types of their values.
  package let form: Form
  /// Whether records of the layout may exist; if not, another layout can reuse its number.
  package private(set) var hasRecords = true

  init(number: UInt8, classVersion: UInt8, form: Form, hasRecords: Bool = true) {
    (self.number, self.classVersion, self.form) = (number, classVersion, form)
    self.hasRecords = hasRecords
  }

  /// The layout after all its records have been rewritten.
  var withoutRecords: SavedLayout {
    SavedLayout(number: number, classVersion: classVersion, form: form, hasRecords: false)
  }

  /// The known structure of the records.
  package enum Form: Sendable {
    /// The properties.
    case properties([SavedProperty])
    /// The types of the values, in order, that an object with default values writes.
    case values([StoredType])
  }

  /// Whether only the types of the values are known.
  package var isOfValues: Bool { if case .values = form { true } else { false } }

  /// A property as it was when the record was written.
  package struct SavedProperty: Hashable, Sendable {
    /// The name in the source.
    package let name: String
    /// The form of the values.
    package let type: StoredType
    /// The names that the property had before.
    package let formerNames: [String]

    /// Creates a property.
    package init(name: String, type: StoredType, formerNames: [String] = []) {
      (self.name, self.type, self.formerNames) = (name, type, formerNames)
    }

    /// Returns whether both have the same bytes and the same name.
    func isSame(as other: SavedProperty) -> Bool {
      name == other.name && type.withoutNames == other.type.withoutNames
    }
  }
}

extension SavedLayout.Form {
  /// Whether records may refer to values outside of them.
  var hasExternals: Bool {
    switch self {
    case .properties(let properties): properties.contains { $0.type.isExternal }
    case .values(let types): types.contains { $0.isExternal }
    }
  }

  /// Returns whether the records of both are the same.
  func isSame(as other: SavedLayout.Form) -> Bool {
    switch (self, other) {
    case (.properties(let first), .properties(let second)):
      first.count == second.count && zip(first, second).allSatisfy { $0.isSame(as: $1) }
    case (.values(let first), .values(let second)): first == second
    case (.properties(let properties), .values(let types)),
      (.values(let types), .properties(let properties)):
      properties.map(\.type.withoutNames) == types
    }
  }
}

extension SavedLayout.SavedProperty {
  init(_ property: StoredProperty) {
    self.init(name: property.name, type: property.type, formerNames: property.formerNames)
  }
}

// MARK: - Bytes

/// The format of the layouts of a class in a store, in a named buffer.
///
///     0   UInt8   format, 1; 2 where some layouts have no records
///     1   UInt32  number of layouts, the oldest first; then each:
///         UInt8   first byte of its records
///         UInt8   version of the class
///         UInt8   in format 2: 0 if there are no such records, otherwise 1
///         UInt8   0: properties, 1: kinds of values
///         UInt32  number of properties; then name, type, former names of each; or types only
enum LayoutFormat {
  private static let versions: ClosedRange<UInt8> = 1...2

  static func bufferName(of className: String) -> String {
    className + InternalBuffers.layoutsSuffix
  }

  static func write(_ layouts: [SavedLayout], to buffer: inout DataBuffer) {
    // Earlier releases would treat such numbers as those of existing records.
    let isMarked = !layouts.allSatisfy(\.hasRecords)
    buffer.write(isMarked ? versions.upperBound : versions.lowerBound)
    buffer.writeCount(layouts.count)
    for layout in layouts {
      buffer.write(layout.number)
      buffer.write(layout.classVersion)
      if isMarked { buffer.write(layout.hasRecords) }
      switch layout.form {
      case .properties(let properties):
        buffer.write(0 as UInt8)
        buffer.write(properties)
      case .values(let types):
        buffer.write(1 as UInt8)
        buffer.write(types)
      }
    }
  }

  /// Returns the bytes of a named buffer, with its checksum.
  static func sealed(_ layouts: [SavedLayout], of className: String) -> [UInt8] {
    var buffer = DataBuffer()
    write(layouts, to: &buffer)
    return NamedBufferChecksum.sealed(buffer.bytes, name: bufferName(of: className))
  }

  /// Reads all layouts from a named buffer with its checksum.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`.
  static func read(
    _ sealed: [UInt8], of className: String, in location: String
  ) throws(StoreError) -> [SavedLayout] {
    do {
      guard let bytes = NamedBufferChecksum.opened(sealed, name: bufferName(of: className)) else {
        throw DataBufferError(.invalidValue, at: 0, "the checksum is wrong")
      }
      var buffer = DataBuffer(bytes)
      return try read(&buffer)
    } catch {
      throw StoreError(
        .damaged, "The layouts of the class are damaged: \(error).",
        at: .init(path: location, className: className), underlying: error)
    }
  }

  /// Reads all layouts.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, with `invalidValue` for the format of a later
  ///   release.
  static func read(_ buffer: inout DataBuffer) throws(DataBufferError) -> [SavedLayout] {
    let version = try buffer.readUInt8()
    guard versions.contains(version) else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    var layouts: [SavedLayout] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 7)) {
      layouts.append(try readLayout(&buffer, isMarked: version > 1))
    }
    guard Set(layouts.map(\.number)).count == layouts.count else {
      throw DataBufferError(.invalidValue, at: 1, "two layouts have the same number")
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "bytes after the end of the layouts")
    }
    return layouts
  }

  private static func readLayout(
    _ buffer: inout DataBuffer, isMarked: Bool
  ) throws(DataBufferError) -> SavedLayout {
    let (number, classVersion) = (try buffer.readUInt8(), try buffer.readUInt8())
    let hasRecords = isMarked ? try buffer.readBool() : true
    let offset = buffer.offset
    switch try buffer.readUInt8() {
    case 0:
      let properties = try buffer.read([SavedLayout.SavedProperty].self)
      return SavedLayout(
        number: number, classVersion: classVersion, form: .properties(properties),
        hasRecords: hasRecords)
    case 1:
      let types = try buffer.read([StoredType].self)
      return SavedLayout(
        number: number, classVersion: classVersion, form: .values(types), hasRecords: hasRecords)
    case let form:
      throw DataBufferError(
        .invalidValue, at: offset,
        "\(form) is not a form of layouts")
    }
  }
}

extension SavedLayout.SavedProperty: DataBufferValue {
  /// The size of two counts and a tag.
  package static var minimumByteCount: Int { 9 }

  package init(from buffer: inout DataBuffer) throws(DataBufferError) {
    name = try buffer.readString()
    type = try StoredType(from: &buffer)
    formerNames = try buffer.read([String].self)
  }

  package func write(to buffer: inout DataBuffer) {
    buffer.write(name)
    type.write(to: &buffer)
    buffer.write(formerNames)
  }
}
