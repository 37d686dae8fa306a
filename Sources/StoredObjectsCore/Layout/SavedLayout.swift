import StoreEngine

/// A layout that records of a store have.
struct SavedLayout {
  /// The first byte of the records.
  let number: UInt8
  /// The version that the class said it had.
  let classVersion: UInt8
  let form: Form

  /// What is known of the records.
  enum Form {
    /// Their properties.
    case properties([SavedProperty])
    /// The kinds of values, in order, that an object writes that has its defaults.
    case values([StoredType])
  }

  /// Whether no more than the kinds of values is known.
  var isOfValues: Bool { if case .values = form { true } else { false } }

  /// A property as it was when a record was written.
  struct SavedProperty: Hashable {
    let name: String
    let type: StoredType
    let formerNames: [String]

    /// Whether both stand for the same bytes and the same name.
    func isSame(as other: SavedProperty) -> Bool {
      name == other.name && type.withoutNames == other.type.withoutNames
    }
  }
}

extension SavedLayout.Form {
  /// Whether records of both are the same.
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
    (name, type, formerNames) = (property.name, property.type, property.formerNames)
  }
}

// MARK: - Bytes

/// The layouts of a class as a store keeps them, in a named buffer.
///
///     0   UInt8   format, 1
///     1   UInt32  number of layouts; then each:
///         UInt8   first byte of its records
///         UInt8   version of the class
///         UInt8   0: properties, 1: kinds of values
///         UInt32  number of properties; then name, type, former names of each; or types only
enum LayoutFormat {
  private static let version: UInt8 = 1

  static func bufferName(of className: String) -> String {
    className + InternalBuffers.layoutsSuffix
  }

  static func write(_ layouts: [SavedLayout], to buffer: inout DataBuffer) {
    buffer.write(version)
    buffer.writeCount(layouts.count)
    for layout in layouts {
      buffer.write(layout.number)
      buffer.write(layout.classVersion)
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

  /// Reads all layouts.
  ///
  /// - Throws: ``DataBufferError``, with `invalidValue` for a format of a later release.
  static func read(_ buffer: inout DataBuffer) throws(DataBufferError) -> [SavedLayout] {
    guard try buffer.readUInt8() == version else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    var layouts: [SavedLayout] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 7)) {
      layouts.append(try readLayout(&buffer))
    }
    guard Set(layouts.map(\.number)).count == layouts.count else {
      throw DataBufferError(.invalidValue, at: 1, "two layouts have the same number")
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "layouts end here")
    }
    return layouts
  }

  private static func readLayout(
    _ buffer: inout DataBuffer
  ) throws(DataBufferError) -> SavedLayout {
    let (number, classVersion) = (try buffer.readUInt8(), try buffer.readUInt8())
    let offset = buffer.offset
    switch try buffer.readUInt8() {
    case 0:
      let properties = try buffer.read([SavedLayout.SavedProperty].self)
      return SavedLayout(
        number: number, classVersion: classVersion, form: .properties(properties))
    case 1:
      let types = try buffer.read([StoredType].self)
      return SavedLayout(number: number, classVersion: classVersion, form: .values(types))
    case let form: throw DataBufferError(.invalidValue, at: offset, "\(form) is no form")
    }
  }
}

extension SavedLayout.SavedProperty: DataBufferValue {
  /// Two counts and a tag.
  static var minimumByteCount: Int { 9 }

  init(from buffer: inout DataBuffer) throws(DataBufferError) {
    name = try buffer.readString()
    type = try StoredType(from: &buffer)
    formerNames = try buffer.read([String].self)
  }

  func write(to buffer: inout DataBuffer) {
    buffer.write(name)
    type.write(to: &buffer)
    buffer.write(formerNames)
  }
}
