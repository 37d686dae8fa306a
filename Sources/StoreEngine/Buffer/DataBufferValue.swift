public import FoundationEssentials

/// A value that a ``DataBuffer`` can hold.
///
/// The number types, `Bool`, `String`, `Data`, `Date` and `UUID` conform, and so do optionals,
/// arrays, sets and dictionaries of them. An enum with a raw value only has to say so:
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
/// A type may hold values of itself, read by ``DataBuffer/read(_:)`` and written by
/// ``DataBuffer/write(_:)-(Value)``, at most 256 deep, arrays included: bytes that say more are an
/// error and don't overflow the stack.
public protocol DataBufferValue: SendableMetatype {
  /// The fewest bytes that a value takes, at least 1.
  ///
  /// A collection's count is checked with it against the bytes that are left, before any memory is
  /// set aside.
  static var minimumByteCount: Int { get }

  /// The form of the values in a record, by which a class finds its properties in records of
  /// earlier layouts.
  ///
  /// A structure that reads and writes its parts is ``StoredType/custom(_:)`` by its name, unless
  /// it says otherwise. Say otherwise to rename the structure.
  static var storedType: StoredType { get }

  /// Names that cases of an enumeration had before, each with the name of today.
  ///
  ///     enum Genre: UInt8, DataBufferValue {
  ///       case jazz, folkMusic
  ///       static var formerCaseNames: [String: String] { ["folk": "folkMusic"] }
  ///     }
  static var formerCaseNames: [String: String] { get }

  /// Reads a value.
  ///
  /// - Throws: ``DataBufferError``, with the offset of the fault.
  init(from buffer: inout DataBuffer) throws(DataBufferError)

  /// Writes the value, at least ``minimumByteCount`` bytes.
  func write(to buffer: inout DataBuffer)
}

extension DataBufferValue {
  /// One byte, unless the type says more.
  @inlinable public static var minimumByteCount: Int { 1 }
  /// A form that only the type itself can read.
  public static var storedType: StoredType { .custom("\(Self.self)") }
  /// No case was renamed.
  public static var formerCaseNames: [String: String] { [:] }
}

extension DataBuffer {
  /// Writes a value of a type of one's own, an optional, a set or a dictionary.
  ///
  /// One that is nested too deep becomes the buffer's ``failure``, with `tooDeep`.
  @inlinable public mutating func write<Value: DataBufferValue>(_ value: Value) {
    writeNested(value)
  }

  /// Reads a value of the type that is asked for.
  ///
  ///     let tags = try buffer.read([String].self)
  ///     let genre = try buffer.read(Genre?.self)
  ///
  /// - Throws: ``DataBufferError``, with the offset of the fault; `tooDeep` among them.
  @inlinable public mutating func read<Value: DataBufferValue>(
    _ type: Value.Type = Value.self
  ) throws(DataBufferError) -> Value { try readNested(type) }
}

extension DataBufferValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// The width of the type in bytes.
  @inlinable public static var minimumByteCount: Int { bitWidth / 8 }
  /// An integer of the width of the type.
  public static var storedType: StoredType {
    .integer(bitCount: UInt8(bitWidth), isSigned: isSigned)
  }
  /// Reads an integer, little-endian.
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
  /// That of the raw value.
  @inlinable public static var minimumByteCount: Int { RawValue.minimumByteCount }
  /// An enumeration with its cases, or the form of the raw value.
  public static var storedType: StoredType { .ofRawValues(Self.self) }

  /// Reads a raw value, and throws `invalidValue` when the type has no case for it.
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
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readBool()
  }
  /// Writes a byte, 0 or 1.
  @inlinable public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension Float: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .float }
  /// Four bytes.
  @inlinable public static var minimumByteCount: Int { 4 }
  /// Reads four bytes, big-endian.
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
  /// Eight bytes.
  @inlinable public static var minimumByteCount: Int { 8 }
  /// Reads eight bytes, big-endian.
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
  /// A count of four bytes.
  @inlinable public static var minimumByteCount: Int { 4 }
  /// Reads a count and UTF-8.
  @inlinable public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readString()
  }
  /// Writes a count and UTF-8.
  @inlinable public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension Data: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .data }
  /// A count of four bytes.
  public static var minimumByteCount: Int { 4 }
  /// Reads a count and bytes.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readData()
  }
  /// Writes a count and bytes.
  public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension Date: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .date }
  /// Eight bytes.
  public static var minimumByteCount: Int { 8 }
  /// Reads seconds since 2001, big-endian.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readDate()
  }
  /// Writes seconds since 2001, big-endian.
  public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}

extension UUID: DataBufferValue {
  /// The form of the type.
  public static var storedType: StoredType { .uuid }
  /// Sixteen bytes.
  public static var minimumByteCount: Int { 16 }
  /// Reads sixteen bytes.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try buffer.readUUID()
  }
  /// Writes sixteen bytes.
  public func write(to buffer: inout DataBuffer) { buffer.write(self) }
}
