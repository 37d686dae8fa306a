extension DataBuffer {
  /// Skips a value.
  ///
  /// Complexity: constant time for values of fixed size and collections of them; otherwise linear
  /// in the number of elements.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd` or `invalidValue`; the last
  ///   also for a type that only its own code can read.
  package mutating func skip(_ type: StoredType) throws(DataBufferError) {
    if let count = type.byteCount { return try skip(count) }
    switch type {
    case .optional(let wrapped): if try readBool() { try skip(wrapped) }
    case .array(let element), .set(let element): try skipElements(element)
    case .dictionary(let key, let value): try skipPairs(key, value)
    case .enumeration(let enumeration): try skip(enumeration.rawType)
    case .reference: if try readUInt32() == ClassMetadata.rowID { try skip(5) }
    case .references, .referenceSet: try skipReferences()
    case .anyReferences, .anyReferenceSet: try skipElements(.anyReference)
    case .external: try skipExternal()
    case .custom(let name):
      throw DataBufferError(
        .invalidValue, at: offset,
        "only the code of \(name) can read its values")
    default: try skip(try readCount(minimumElementSize: 1))
    }
  }

  private mutating func skipElements(_ element: StoredType) throws(DataBufferError) {
    let count = try readCount(minimumElementSize: element.byteCount ?? 1)
    if let size = element.byteCount { return try skip(count * size) }
    for _ in 0..<count { try skip(element) }
  }

  private mutating func skipReferences() throws(DataBufferError) {
    let (count, hasClasses) = try readReferenceCount()
    try skip(count * (hasClasses ? 5 : 4))
  }

  /// Reads the count of a list of objects of one class, and whether each has a class ID.
  package mutating func readReferenceCount() throws(DataBufferError) -> (
    count: Int, hasClasses: Bool
  ) {
    let count = try readCount(minimumElementSize: 4)
    let first = position
    if count > 0, try readUInt32() == ClassMetadata.rowID { return (count, true) }
    position = first
    return (count, false)
  }

  private mutating func skipPairs(
    _ key: StoredType, _ value: StoredType
  ) throws(DataBufferError) {
    for _ in 0..<(try readCount(minimumElementSize: 2)) {
      try skip(key)
      try skip(value)
    }
  }

  /// Returns the bytes that a closure reads.
  package mutating func bytesRead(
    by read: (inout DataBuffer) throws -> Void
  ) rethrows -> [UInt8] {
    let first = position
    try read(&self)
    return Array(storage[first..<position])
  }
}
