extension Optional: DataBufferValue where Wrapped: DataBufferValue {
  /// The optional form of the wrapped type.
  public static var storedType: StoredType { .optional(Wrapped.storedType) }

  /// Reads a byte, 1 if a value follows and 0 for nil, so that "" and nil differ.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `invalidValue` for a first byte other than 0
  ///   and 1, `tooDeep`, or an error of the wrapped type.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readBool() ? buffer.readNested(Wrapped.self) : nil
  }

  /// Writes 1 and the value, or 0.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.writing(Self.storedType) { buffer in
      buffer.write(self != nil)
      if let self { buffer.writeNested(self) }
    }
  }
}

extension Array: DataBufferValue where Element: DataBufferValue {
  /// The array form of the element type.
  public static var storedType: StoredType { .array(Element.storedType) }

  /// The four bytes of the count.
  @inlinable public static var minimumByteCount: Int { 4 }

  /// Reads a count and the elements in their order.
  ///
  /// Complexity: linear in the number of elements, which the remaining bytes limit.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd`, `tooDeep`, or an error of
  ///   the element type.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let count = try buffer.readCount(minimumElementSize: Element.minimumByteCount)
    self.init()
    reserveCapacity(count)
    try buffer.enterRead(of: Element.self)
    defer { buffer.leave(Element.self) }
    for _ in 0..<count { append(try Element(from: &buffer)) }
  }

  /// Writes the count and the elements in their order.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.writing(Self.storedType) { buffer in
      buffer.writeCount(count)
      guard buffer.enterWrite(of: Element.self) else { return }
      defer { buffer.leave(Element.self) }
      for element in self { element.write(to: &buffer) }
    }
  }
}

extension Set: DataBufferValue where Element: DataBufferValue {
  /// The set form of the element type.
  public static var storedType: StoredType { .set(Element.storedType) }

  /// The four bytes of the count.
  @inlinable public static var minimumByteCount: Int { 4 }

  /// Reads a count and the elements; a repeated element throws `invalidValue`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd`, `invalidValue`, `tooDeep`,
  ///   or an error of the element type.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let count = try buffer.readCount(minimumElementSize: Element.minimumByteCount)
    self.init(minimumCapacity: count)
    try buffer.enterRead(of: Element.self)
    defer { buffer.leave(Element.self) }
    for _ in 0..<count {
      let offset = buffer.offset
      guard insert(try Element(from: &buffer)).inserted else {
        throw DataBufferError(.invalidValue, at: offset, "a set has this element twice")
      }
    }
  }

  /// Writes the count and the elements, in no particular order.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.writing(Self.storedType) { buffer in
      buffer.writeCount(count)
      guard buffer.enterWrite(of: Element.self) else { return }
      defer { buffer.leave(Element.self) }
      for element in self { element.write(to: &buffer) }
    }
  }
}

extension Dictionary: DataBufferValue where Key: DataBufferValue, Value: DataBufferValue {
  /// The dictionary form of the key and value types.
  public static var storedType: StoredType {
    .dictionary(key: Key.storedType, value: Value.storedType)
  }

  /// The four bytes of the count.
  @inlinable public static var minimumByteCount: Int { 4 }

  /// Reads a count, then each key and its value; a repeated key throws `invalidValue`.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd`, `invalidValue`, `tooDeep`,
  ///   or an error of the key or value type.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let size = Key.minimumByteCount + Value.minimumByteCount
    let count = try buffer.readCount(minimumElementSize: size)
    self.init(minimumCapacity: count)
    try buffer.enterRead(of: (Key, Value).self)
    defer { buffer.leave((Key, Value).self) }
    for _ in 0..<count {
      let offset = buffer.offset
      let key = try Key(from: &buffer)
      guard updateValue(try Value(from: &buffer), forKey: key) == nil else {
        throw DataBufferError(.invalidValue, at: offset, "a dictionary has this key twice")
      }
    }
  }

  /// Writes the count, then each key and its value, in no particular order.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.writing(Self.storedType) { buffer in
      buffer.writeCount(count)
      guard buffer.enterWrite(of: (Key, Value).self) else { return }
      defer { buffer.leave((Key, Value).self) }
      for (key, value) in self {
        key.write(to: &buffer)
        value.write(to: &buffer)
      }
    }
  }
}
