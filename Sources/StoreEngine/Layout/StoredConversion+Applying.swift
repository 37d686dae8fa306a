extension DataBuffer {
  /// Reads a value in its old form and writes it in the new one.
  ///
  /// - Parameters:
  ///   - type: The old form.
  ///   - conversion: The conversion of the value.
  ///   - output: The buffer to write the new form to.
  ///   - classID: Returns the ID of a class by its name.
  /// - Throws: ``DataBufferError``, with the offset in the old record.
  package mutating func convert(
    _ type: StoredType, by conversion: StoredConversion, to output: inout DataBuffer,
    classID: (String) throws(DataBufferError) -> UInt8
  ) throws(DataBufferError) {
    switch conversion {
    case .none: try copy(type, to: &output)
    case .widerInteger(let old, let bitCount):
      output.writeInteger(try readInteger(old), bitCount: bitCount)
    case .floatingPoint(let old, let isDouble):
      let number = try readNumber(old)
      if isDouble { output.write(number) } else { output.write(Float(number)) }
    case .text(let old): output.write(try readText(old))
    case .rawValues(let old, let map): try convertCase(old, map, to: &output)
    case .wrapped(let inner, let old):
      output.write(true)
      try convert(old, by: inner, to: &output, classID: classID)
    case .optional(let inner, let old):
      let isThere = try readBool()
      output.write(isThere)
      if isThere { try convert(old, by: inner, to: &output, classID: classID) }
    case .elements(let inner, let old):
      try convertEach(to: &output) { (input, output) throws(DataBufferError) in
        try input.convert(old, by: inner, to: &output, classID: classID)
      }
    case .pairs(let key, let oldKey, let value, let oldValue):
      try convertEach(to: &output) { (input, output) throws(DataBufferError) in
        try input.convert(oldKey, by: key, to: &output, classID: classID)
        try input.convert(oldValue, by: value, to: &output, classID: classID)
      }
    case .anyReference(let name): try qualify(try classID(name), to: &output)
    case .anyReferences(let name):
      try convertReferences(try classID(name), to: &output)
    case .external:
      ExternalContent.writeInline(to: &output)
      try copy(.data, to: &output)
    case .internalized: try convertExternal(to: &output)
    case .list(let isAny): try makeList(isAny, to: &output)
    }
  }

  /// Copies a value without a change.
  package mutating func copy(
    _ type: StoredType, to output: inout DataBuffer
  ) throws(DataBufferError) {
    let first = position
    try skip(type)
    output.storage.append(contentsOf: storage[first..<position])
  }

  private mutating func convertEach(
    to output: inout DataBuffer,
    _ convert: (inout DataBuffer, inout DataBuffer) throws(DataBufferError) -> Void
  ) throws(DataBufferError) {
    let count = try readCount(minimumElementSize: 1)
    output.writeCount(count)
    for _ in 0..<count { try convert(&self, &output) }
  }

  private mutating func convertCase(
    _ rawType: StoredType, _ map: [[UInt8]: [UInt8]], to output: inout DataBuffer
  ) throws(DataBufferError) {
    let first = position
    try skip(rawType)
    guard let bytes = map[Array(storage[first..<position])] else {
      throw DataBufferError(
        .invalidValue, at: first - start, "the saved case no longer exists")
    }
    output.append(bytes)
  }

  private mutating func qualify(
    _ classID: UInt8, to output: inout DataBuffer
  ) throws(DataBufferError) {
    let row = try readUInt32()
    if row == ClassMetadata.rowID { return try copy(.anyReference, to: &output) }
    output.write(row == 0 ? 0 : classID)
    output.write(row)
  }

  private mutating func convertReferences(
    _ classID: UInt8, to output: inout DataBuffer
  ) throws(DataBufferError) {
    let (count, hasClasses) = try readReferenceCount()
    output.writeCount(count)
    for _ in 0..<count {
      if hasClasses {
        try copy(.anyReference, to: &output)
      } else {
        try qualify(classID, to: &output)
      }
    }
  }

  private mutating func makeList(
    _ isAny: Bool, to output: inout DataBuffer
  ) throws(DataBufferError) {
    let classID = isAny ? try readUInt8() : nil
    let row = try readUInt32()
    output.writeCount(row == 0 ? 0 : 1)
    guard row != 0 else { return }
    if let classID { output.write(classID) }
    output.write(row)
    if !isAny, row == ClassMetadata.rowID { try copy(.anyReference, to: &output) }
  }
}

// MARK: - Numbers

extension DataBuffer {
  /// Reads an integer of any width; a large `UInt64` keeps its bits.
  private mutating func readInteger(_ type: StoredType) throws(DataBufferError) -> Int64 {
    switch type {
    case .integer(8, false): Int64(try readUInt8())
    case .integer(16, false): Int64(try readUInt16())
    case .integer(32, false): Int64(try readUInt32())
    case .integer(64, false): Int64(bitPattern: try readUInt64())
    case .integer(8, true): Int64(try readInt8())
    case .integer(16, true): Int64(try readInt16())
    case .integer(32, true): Int64(try readInt32())
    default: try readInt64()
    }
  }

  private mutating func writeInteger(_ value: Int64, bitCount: UInt8) {
    for byte in 0..<Int64(bitCount) / 8 { write(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
  }

  private mutating func readNumber(_ type: StoredType) throws(DataBufferError) -> Double {
    switch type {
    case .float: Double(try readFloat())
    case .double: try readDouble()
    default: Double(try readInteger(type))
    }
  }

  private mutating func readText(_ type: StoredType) throws(DataBufferError) -> String {
    switch type {
    case .float: "\(try readFloat())"
    case .double: "\(try readDouble())"
    case .integer(64, false): "\(try readUInt64())"
    default: "\(try readInteger(type))"
    }
  }
}
