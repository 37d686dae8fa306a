import StoreEngine

/// Turns the content of a record of an earlier layout into one that the class reads, property by
/// property.
struct RecordConversion: Sendable {
  /// Passes over a value of the old record.
  typealias Skip = @Sendable (inout DataBuffer) throws -> Void

  /// Where the value of one property comes from.
  enum Step: Sendable {
    /// The bytes of an old property.
    case copy(Int)
    /// The bytes of an old property, behind a byte that says that there is a value.
    case wrap(Int)
    /// The value of an old property in another form.
    case convert(Int, StoredType, StoredConversion)
    /// What the class makes of an old value, which may have to be widened first.
    case make(Int, StoredType, StoredConversion, PropertyConversion)
    /// What a new object has in a property.
    case standard(Int)
  }

  let oldProperties: [Skip]
  let steps: [Step]
  /// Passes over the properties of a new object.
  let properties: [Skip]

  /// Whether some properties get what a new object has.
  var needsDefaults: Bool {
    steps.contains { if case .standard = $0 { true } else { false } }
  }

  /// The content of a record as the class reads it.
  ///
  /// - Parameters:
  ///   - old: What is left to read of the old record.
  ///   - fresh: The content of a new object, if there are properties that the old record lacks.
  ///   - output: The buffer that gets the content.
  ///   - classID: The ID of a class by its name.
  /// - Throws: ``/StoreEngine/DataBufferError``, and what conversions of the class throw.
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
  /// Where the values of properties begin, which are passed over.
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
