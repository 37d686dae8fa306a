public import FoundationEssentials

/// A value that a ``DataBuffer`` can hold.
///
/// The number types, `Bool`, `String`, `Data`, `Date` and `UUID` conform, and so do optionals,
/// arrays, sets and dictionaries of them. An enum with a raw value only declares the conformance:
///
///     enum Genre: UInt8, DataBufferValue { case jazz, folk, opera }
///
/// A structure reads and writes its parts:
///
///     struct Size: DataBufferValue {
///       var width, height: UInt32
///       init(from buffer: inout DataBuffer) throws(DataBufferError) {
///         width = try buffer.readUInt32()
///         height = try buffer.readUInt32()
///       }
///       func write(to buffer: inout DataBuffer) {
///         buffer.write(width)
///         buffer.write(height)
///       }
///     }
///
/// A type may contain values of itself. Read them with ``DataBuffer/read(_:)`` and write them with
/// ``DataBuffer/write(_:)-(Value)``. They may be nested at most 256 deep, arrays included: bytes
/// with deeper nesting throw an error, and don't overflow the stack.
public protocol DataBufferValue: SendableMetatype {
  /// The fewest bytes that a value takes, at least 1.
  ///
  /// Reading a collection checks its count against the remaining bytes with it before allocating
  /// memory.
  static var minimumByteCount: Int { get }

  /// The form of the values in a record.
  ///
  /// A class uses it to find its properties in records of earlier layouts. A structure that reads
  /// and writes its parts is ``StoredType/custom(_:)`` with its name by default. Implement this
  /// property to rename the structure.
  static var storedType: StoredType { get }

  /// The former names of enumeration cases, each with the present name.
  ///
  ///     enum Genre: UInt8, DataBufferValue {
  ///       case jazz, folkMusic
  ///       static var formerCaseNames: [String: String] { ["folk": "folkMusic"] }
  ///     }
  static var formerCaseNames: [String: String] { get }

  /// Reads a value.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the error.
  init(from buffer: inout DataBuffer) throws(DataBufferError)

  /// Writes the value, at least ``minimumByteCount`` bytes.
  ///
  /// Complexity: linear in the size of the value.
  func write(to buffer: inout DataBuffer)
}

extension DataBufferValue {
  /// One byte, the default.
  @inlinable public static var minimumByteCount: Int { 1 }
  /// A form that only the type itself can read, the default.
  public static var storedType: StoredType { .custom("\(Self.self)") }
  /// No former names, the default.
  public static var formerCaseNames: [String: String] { [:] }
}

extension DataBuffer {
  /// Writes a value of a custom type, an optional, a set or a dictionary.
  ///
  /// A value that is nested too deep sets the buffer's ``failure`` to `tooDeep`.
  ///
  /// Complexity: linear in the size of the value.
  @inlinable public mutating func write<Value: DataBufferValue>(_ value: Value) {
    writeNested(value)
  }

  /// Reads a value of the given type.
  ///
  ///     let tags = try buffer.read([String].self)
  ///     let genre = try buffer.read(Genre?.self)
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the error; `tooDeep` if it is nested too
  ///   deep.
  @inlinable public mutating func read<Value: DataBufferValue>(
    _ type: Value.Type = Value.self
  ) throws(DataBufferError) -> Value { try readNested(type) }
}

extension DataBufferValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// The width of the type in bytes.
  @inlinable public static var minimumByteCount: Int { bitWidth / 8 }
  /// An integer form with the width of the type.
  public static var storedType: StoredType {
    .integer(bitCount: UInt8(bitWidth), isSigned: isSigned)
  }
  /// Reads an integer, little-endian.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readInteger(.littleEndian)
  }
  /// Writes an integer, little-endian.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.write(self, order: .littleEndian)
  }
}

extension UInt8: DataBufferValue {}
extension UInt16: DataBufferValue {}
extension UInt32: DataBufferValue {}
extension UInt64: DataBufferValue {}
extension Int8: DataBufferValue {}
extension Int16: DataBufferValue {}
extension Int32: DataBufferValue {}
extension Int64: DataBufferValue {}

extension DataBufferValue where Self: RawRepresentable, RawValue: DataBufferValue {
  /// The minimum of the raw value.
  @inlinable public static var minimumByteCount: Int { RawValue.minimumByteCount }
  /// An enumeration form with its cases, or the form of the raw value.
  public static var storedType: StoredType { .ofRawValues(Self.self) }

  /// Reads a raw value; one without a case throws `invalidValue`.
  ///
  /// - Throws: ``DataBufferError`` with `invalidValue`, or an error of the raw type.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    let raw = try RawValue(from: &buffer)
    guard let value = Self(rawValue: raw) else {
      throw DataBufferError(.invalidValue, at: offset, "\(Self.self) has no value \(raw)")
    }
    self = value
  }

  /// Writes the raw value.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.writing(Self.storedType) { rawValue.write(to: &$0) }
  }
}

extension Bool: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .bool }
  /// Reads a byte, 0 or 1.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `invalidValue`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readBool()
  }
  /// Writes a byte, 0 or 1.
  @inlinable public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension Float: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .float }
  /// The four bytes of the number.
  @inlinable public static var minimumByteCount: Int { 4 }
  /// Reads four bytes, big-endian.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readFloat()
  }
  /// Writes four bytes, big-endian.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.write(self, order: .bigEndian)
  }
}

extension Double: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .double }
  /// The eight bytes of the number.
  @inlinable public static var minimumByteCount: Int { 8 }
  /// Reads eight bytes, big-endian.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readDouble()
  }
  /// Writes eight bytes, big-endian.
  @inlinable public func write(to buffer: inout DataBuffer) {
    buffer.write(self, order: .bigEndian)
  }
}

extension String: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .string }
  /// The four bytes of the count.
  @inlinable public static var minimumByteCount: Int { 4 }
  /// Reads a count and UTF-8.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `countBeyondEnd` or `invalidUTF8`.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readString()
  }
  /// Writes a count and UTF-8.
  @inlinable public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension Data: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .data }
  /// The four bytes of the count.
  public static var minimumByteCount: Int { 4 }
  /// Reads a count and bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer` or `countBeyondEnd`.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readData()
  }
  /// Writes a count and bytes.
  public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension Date: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .date }
  /// The eight bytes of the number of seconds.
  public static var minimumByteCount: Int { 8 }
  /// Reads seconds since 2001, big-endian.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readDate()
  }
  /// Writes seconds since 2001, big-endian.
  public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension UUID: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .uuid }
  /// The sixteen bytes of the UUID.
  public static var minimumByteCount: Int { 16 }
  /// Reads sixteen bytes.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readUUID()
  }
  /// Writes sixteen bytes.
  public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}
