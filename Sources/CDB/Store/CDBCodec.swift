/// How a ``CDBStore`` turns its keys into bytes and back.
///
/// Keys with the same bytes are one key, whatever `==` says of them.
public protocol CDBKeyCodec: Sendable {
  /// The type of the keys.
  associatedtype Key: Hashable & Sendable

  /// The bytes of a key.
  func encode(_ key: Key) -> [UInt8]

  /// The key of these bytes.
  ///
  /// - Throws: ``CDBCodecError`` when they are not those of a key.
  func decode(_ bytes: RawSpan) throws -> Key
}

/// How a ``CDBStore`` turns its values into bytes and back.
///
/// A tag byte goes before them in the file, which says how they were encoded. The tags 0 to 31 are
/// those of ``CDBValue`` and kept for more of them; codecs of your own use 32 and up, and ask one
/// of the codecs here for values that are to have one of these:
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

  /// The tag and the bytes of a value.
  ///
  /// - Throws: ``CDBCodecError``, or whatever says that the value has no bytes.
  func encode(_ value: Value) throws -> CDBEncodedValue

  /// The value of these bytes.
  ///
  /// - Throws: ``CDBCodecError``, or whatever says that they are not those of a value.
  func decode(_ bytes: RawSpan, tag: UInt8) throws -> Value
}

/// A value as it is in the file.
public struct CDBEncodedValue: Hashable, Sendable {
  /// How it is encoded.
  public let tag: UInt8
  /// Its bytes, without the tag.
  public var bytes: [UInt8]

  /// Puts a tag before bytes.
  ///
  /// - Parameters:
  ///   - tag: 32 to 255.
  ///   - bytes: The bytes, without it.
  /// - Throws: ``CDBCodecError`` for the tags 0 to 31; a save that meets it fails with
  ///   `notEncodable`, and keeps all changes.
  public init(tag: UInt8, bytes: [UInt8]) throws(CDBCodecError) {
    guard tag > CDBTag.lastReserved else {
      throw CDBCodecError(
        "the tag \(tag) is reserved, as all from 0 to \(CDBTag.lastReserved); use a higher one")
    }
    self.init(reservedTag: tag, bytes: bytes)
  }

  /// Puts a tag of the codecs here before bytes.
  init(reservedTag tag: UInt8, bytes: [UInt8]) {
    self.tag = tag
    self.bytes = bytes
  }
}

/// Why a codec can't do what it is asked for.
public struct CDBCodecError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, and what would be right.
  public let description: String

  /// Says what is wrong.
  public init(_ description: String) { self.description = description }
}
