import StoreEngine

/// A conversion of a record of an earlier layout to a content that the class reads.
///
/// It works property by property.
struct RecordConversion: Sendable {
  /// A closure that skips a value of the old record.
  typealias Skip = @Sendable (inout DataBuffer) throws -> Void

  /// The source of the value of one property.
  enum Step: Sendable {
    /// The bytes of an old property.
    case copy(Int)
    /// The bytes of an old property, after a byte that marks a value as present.
    case wrap(Int)
    /// The value of an old property in another form.
    case convert(Int, StoredType, StoredConversion)
    /// The result of a conversion by the class; the old value may have to be widened first.
    case make(Int, StoredType, StoredConversion, PropertyConversion)
    /// The default of a property in a new object.
    case standard(Int)
  }

  let oldProperties: [Skip]
  let steps: [Step]
  /// Closures that skip the properties of a new object.
  let properties: [Skip]

  /// Whether some properties get the defaults of a new object.
  var needsDefaults: Bool {
    steps.contains { if case .standard = $0 { true } else { false } }
  }

  /// Converts a record to a content that the class reads.
  ///
  /// - Parameters:
  ///   - old: The buffer with the rest of the old record.
  ///   - fresh: The content of a new object, if the old record lacks properties.
  ///   - output: The buffer for the content.
  ///   - classID: Returns the ID of a class by its name.
  /// - Throws: ``/StoreEngine/DataBufferError``, and the errors of the class's conversions.
  func convert(
    _ old: inout DataBuffer, fresh: DataBuffer?, into output: inout DataBuffer,
    classID: (String) throws(DataBufferError) -> UInt8
  ) throws {
    let offsets = try old.offsets(of: oldProperties)
    let end = old.position
    var fresh = fresh
    let defaults = try fresh?.offsets(of: properties) ?? []
    for step in steps {
      switch step {
      case .copy(let index):
        old.position = offsets[index]
        output.append(try old.bytesRead(by: oldProperties[index]))
      case .wrap(let index):
        old.position = offsets[index]
        output.write(true)
        output.append(try old.bytesRead(by: oldProperties[index]))
      case .convert(let index, let type, let conversion):
        old.position = offsets[index]
        try old.convert(type, by: conversion, to: &output, classID: classID)
      case .make(let index, let type, let conversion, let property):
        old.position = offsets[index]
        var value = DataBuffer()
        try old.convert(type, by: conversion, to: &value, classID: classID)
        value.rewind()
        try property.convert(&value, &output)
      case .standard(let index):
        fresh?.position = defaults[index]
        output.append(try fresh?.bytesRead(by: properties[index]) ?? [])
      }
    }
    old.position = end
  }
}

extension DataBuffer {
  /// Returns the offsets of the values of properties, and skips the values.
  fileprivate mutating func offsets(of properties: [RecordConversion.Skip]) throws -> [Int] {
    var offsets: [Int] = []
    offsets.reserveCapacity(properties.count)
    for skip in properties {
      offsets.append(position)
      try skip(&self)
    }
    return offsets
  }
}
