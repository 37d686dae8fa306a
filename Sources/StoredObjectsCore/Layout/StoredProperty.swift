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
  /// The names that the property had before.
  public private(set) var formerNames: [String] = []
  /// The first version of the class that has the property.
  public private(set) var firstVersion: UInt8 = 0
  /// The first version of the class that no longer has the property; nil while there is none.
  public private(set) var endVersion: UInt8?

  /// Passes over a value, whatever its type.
  let skip: @Sendable (inout DataBuffer) throws -> Void
  /// How values of other types become values of this one.
  private(set) var conversions: [PropertyConversion] = []

  init(
    _ name: String, _ type: StoredType,
    skip: (@Sendable (inout DataBuffer) throws -> Void)? = nil
  ) {
    (self.name, self.type) = (name, type)
    self.skip = skip ?? { buffer in try buffer.skip(type) }
  }
}

/// A way from a value of an earlier type to one of today's.
struct PropertyConversion: Sendable {
  /// The property that had the value; nil is the property itself.
  let name: String?
  let oldType: StoredType
  /// Reads the old value and writes the new one.
  let convert: @Sendable (inout DataBuffer, inout DataBuffer) throws -> Void
}

extension StoredProperty {
  /// A property that had other names before.
  public func formerly(_ names: String...) -> StoredProperty {
    var property = self
    property.formerNames += names
    return property
  }

  /// A property that a version of the class has brought.
  public func since(_ version: UInt8) -> StoredProperty {
    var property = self
    property.firstVersion = version
    return property
  }

  /// A property that a version of the class has dropped.
  public func until(_ version: UInt8) -> StoredProperty {
    var property = self
    property.endVersion = version
    return property
  }

  /// A property that had values of another type before.
  ///
  ///     StoredProperty("duration", Double.self)
  ///       .converted(to: Double.self, "seconds", from: UInt32.self) { Double($0) }
  ///
  /// - Parameters:
  ///   - newType: The type of today.
  ///   - formerName: The name that the property had then; nil if it is the same.
  ///   - oldType: The type of the values then.
  ///   - convert: Makes a new value of an old one. It runs on any thread.
  /// - Returns: the property, which converts such values.
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

  /// Whether records of a version have the property.
  func isIn(_ version: UInt8) -> Bool {
    firstVersion <= version && version < endVersion ?? .max
  }
}

// MARK: - Types of values

extension StoredProperty {
  /// A property with a value that writes itself.
  public init<Value: DataBufferValue>(_ name: String, _ type: Value.Type) {
    self.init(name, Value.storedType) { buffer in _ = try Value(from: &buffer) }
  }

  /// A property with a `Codable` value.
  @_disfavoredOverload
  public init<Value: Codable>(_ name: String, _ type: Value.Type) {
    self.init(name, .codable("\(Value.self)"))
  }

  /// A property that refers to an object of a class.
  public init<Object: StoredObject>(_ name: String, _ type: Object?.Type) {
    self.init(name, .reference(Object.storedName))
  }

  /// A property that refers to objects of a class, in order.
  public init<Object: StoredObject>(_ name: String, _ type: [Object].Type) {
    self.init(name, .references(Object.storedName))
  }

  /// A property that refers to objects of a class, in order.
  public init<Object: StoredObject>(_ name: String, _ type: ObjectList<Object>.Type) {
    self.init(name, .references(Object.storedName))
  }

  /// A property that refers to objects of a class, each once.
  public init<Object: StoredObject>(_ name: String, _ type: Set<Object>.Type) {
    self.init(name, .referenceSet(Object.storedName))
  }

  /// A property that refers to an object of any class.
  public init(_ name: String, _ type: StoredObject?.Type) { self.init(name, .anyReference) }

  /// A property that refers to objects of any classes, in order.
  public init(_ name: String, _ type: [StoredObject].Type) { self.init(name, .anyReferences) }

  /// A property that refers to objects of any classes, each once.
  public init(_ name: String, _ type: Set<StoredObject>.Type) {
    self.init(name, .anyReferenceSet)
  }

  /// A property that refers to an object under a protocol type.
  public init<Value>(_ name: String, ofAny type: Value?.Type) { self.init(name, .anyReference) }

  /// A property that refers to objects under a protocol type, in order.
  public init<Value>(_ name: String, ofAny type: [Value].Type) { self.init(name, .anyReferences) }
}
