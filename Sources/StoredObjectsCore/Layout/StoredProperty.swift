public import StoreEngine

/// A property in the records of a class: its name and the form of its value.
///
///     StoredProperty("title", String.self)
///     StoredProperty("artist", Artist?.self).formerly("singer")
///
/// See ``ClassLayout``.
public struct StoredProperty: Sendable {
  /// The name in the source.
  public let name: String
  /// The form of the value in a record.
  public let type: StoredType
  /// The earlier names of the property.
  public private(set) var formerNames: [String] = []
  /// The first version of the class that has the property.
  public private(set) var firstVersion: UInt8 = 0
  /// The first version of the class that no longer has the property; nil if all later ones have it.
  public private(set) var endVersion: UInt8?

  /// Skips a value of the property's type.
  let skip: @Sendable (inout DataBuffer) throws -> Void
  /// The conversions from values of other types.
  private(set) var conversions: [PropertyConversion] = []

  init(
    _ name: String, _ type: StoredType,
    skip: (@Sendable (inout DataBuffer) throws -> Void)? = nil
  ) {
    (self.name, self.type) = (name, type)
    self.skip = skip ?? { buffer in try buffer.skip(type) }
  }
}

/// A conversion of a property from an earlier type.
struct PropertyConversion: Sendable {
  /// The name of the property that had the value; nil for the property itself.
  let name: String?
  let oldType: StoredType
  /// Reads the old value and writes the new one.
  let convert: @Sendable (inout DataBuffer, inout DataBuffer) throws -> Void
}

extension StoredProperty {
  /// Returns the property with additional former names.
  ///
  /// Complexity: linear in the number of former names.
  public func formerly(_ names: String...) -> StoredProperty {
    var property = self
    property.formerNames += names
    return property
  }

  /// Returns the property as one that a version of the class has added.
  public func since(_ version: UInt8) -> StoredProperty {
    var property = self
    property.firstVersion = version
    return property
  }

  /// Returns the property as one that a version of the class has removed.
  public func until(_ version: UInt8) -> StoredProperty {
    var property = self
    property.endVersion = version
    return property
  }

  /// Returns the property with a conversion from an earlier type.
  ///
  ///     StoredProperty("duration", Double.self)
  ///       .converted(to: Double.self, "seconds", from: UInt32.self) { Double($0) }
  ///
  /// Complexity: linear in the number of former names and conversions.
  ///
  /// - Parameters:
  ///   - newType: The current type.
  ///   - formerName: The name that the property had then; nil if it is the same.
  ///   - oldType: The type of the values then.
  ///   - convert: Returns a new value for an old one. It runs on any thread.
  /// - Returns: The property with the conversion.
  public func converted<Old: DataBufferValue, New: DataBufferValue>(
    to newType: New.Type, _ formerName: String? = nil, from oldType: Old.Type,
    by convert: @escaping @Sendable (Old) throws -> New
  ) -> StoredProperty {
    var property = self
    if let formerName { property.formerNames.append(formerName) }
    property.conversions.append(
      PropertyConversion(name: formerName, oldType: Old.storedType) { input, output in
        output.write(try convert(try Old(from: &input)))
      })
    return property
  }

  /// Returns whether records of a version have the property.
  func isIn(_ version: UInt8) -> Bool {
    firstVersion <= version && version < endVersion ?? .max
  }
}

// MARK: - Types of values

extension StoredProperty {
  /// Creates a property of a type that encodes itself.
  public init<Value: DataBufferValue>(_ name: String, _ type: Value.Type) {
    self.init(name, Value.storedType) { buffer in _ = try Value(from: &buffer) }
  }

  /// Creates a property with a `Codable` value.
  @_disfavoredOverload
  public init<Value: Codable>(_ name: String, _ type: Value.Type) {
    self.init(name, .codable("\(Value.self)"))
  }

  /// Creates a property that refers to an object of a class.
  public init<Object: StoredObject>(_ name: String, _ type: Object?.Type) {
    self.init(name, .reference(Object.storedName))
  }

  /// Creates a property that refers to objects of a class, in order.
  public init<Object: StoredObject>(_ name: String, _ type: [Object].Type) {
    self.init(name, .references(Object.storedName))
  }

  /// Creates a property that refers to objects of a class, in order.
  public init<Object: StoredObject>(_ name: String, _ type: ObjectList<Object>.Type) {
    self.init(name, .references(Object.storedName))
  }

  /// Creates a property that refers to objects of a class, each once.
  public init<Object: StoredObject>(_ name: String, _ type: Set<Object>.Type) {
    self.init(name, .referenceSet(Object.storedName))
  }

  /// Creates a property that refers to an object of any class.
  public init(_ name: String, _ type: StoredObject?.Type) { self.init(name, .anyReference) }

  /// Creates a property that refers to objects of any class, in order.
  public init(_ name: String, _ type: [StoredObject].Type) { self.init(name, .anyReferences) }

  /// Creates a property that refers to objects of any class, each once.
  public init(_ name: String, _ type: Set<StoredObject>.Type) {
    self.init(name, .anyReferenceSet)
  }

  /// Creates a property that refers to an object by a protocol type.
  public init<Value>(_ name: String, ofAny type: Value?.Type) { self.init(name, .anyReference) }

  /// Creates a property that refers to objects by a protocol type, in order.
  public init<Value>(_ name: String, ofAny type: [Value].Type) { self.init(name, .anyReferences) }
}
