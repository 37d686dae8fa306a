/// A codec that converts the keys of a ``CDBStore`` to bytes and back.
///
/// Keys with the same bytes are the same key, even if they differ by `==`.
public protocol CDBKeyCodec: Sendable {
  /// The type of the keys.
  associatedtype Key: Hashable & Sendable

  /// Returns the bytes of a key.
  ///
  /// Complexity: linear in the size of the key.
  func encode(_ key: Key) -> [UInt8]

  /// Returns the key for bytes.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` if they are not those of a key.
  func decode(_ bytes: RawSpan) throws -> Key
}

/// A codec that converts the values of a ``CDBStore`` to bytes and back.
///
/// In the file, a tag byte precedes the bytes and states how they were encoded. The tags 0 to 31
/// are those of ``CDBValue``, and reserved for more of them. Your own codecs use 32 and up. For
/// values that should have one of the reserved tags, call one of the codecs here:
///
///     struct PointCodec: CDBValueCodec {
///       func encode(_ point: Point) throws -> CDBEncodedValue {
///         try CDBEncodedValue(tag: 32, bytes: point.bytes)
///       }
///       func decode(_ bytes: RawSpan, tag: UInt8) throws -> Point {
///         guard tag == 32 else { throw CDBCodecError("a point has the tag 32, and this \(tag)") }
///         return try Point(bytes)
///       }
///     }
public protocol CDBValueCodec: Sendable {
  /// The type of the values.
  associatedtype Value: Sendable

  /// Returns the tag and the bytes of a value.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Throws: ``CDBCodecError`` or any other error if the value can't be encoded.
  func encode(_ value: Value) throws -> CDBEncodedValue

  /// Returns the value for bytes.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``CDBCodecError`` or any other error if they are not those of a value.
  func decode(_ bytes: RawSpan, tag: UInt8) throws -> Value
}

/// A value in the form in which the file contains it.
public struct CDBEncodedValue: Hashable, Sendable {
  /// The tag, which states how the value is encoded.
  public let tag: UInt8
  /// Its bytes, without the tag.
  public var bytes: [UInt8]

  /// Creates a value from a tag and bytes.
  ///
  /// Complexity: constant time.
  ///
  /// - Parameters:
  ///   - tag: 32 to 255.
  ///   - bytes: The bytes, without the tag.
  /// - Throws: ``CDBCodecError`` for the tags 0 to 31; a save then fails with `notEncodable`, and
  ///   keeps all changes.
  public init(tag: UInt8, bytes: [UInt8]) throws(CDBCodecError) {
    guard tag > CDBTag.lastReserved else {
      throw CDBCodecError(
        "the tag \(tag) is reserved, like all from 0 to \(CDBTag.lastReserved); use a higher one")
    }
    self.init(reservedTag: tag, bytes: bytes)
  }

  /// Creates a value with a tag that is reserved for the codecs here.
  init(reservedTag tag: UInt8, bytes: [UInt8]) {
    self.tag = tag
    self.bytes = bytes
  }
}

/// An error of a codec.
public struct CDBCodecError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A description of what is wrong, and what would be right.
  public let description: String

  /// Creates an error.
  public init(_ description: String) { self.description = description }
}
