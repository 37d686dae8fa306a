/// An error in reading bytes as a type, or in writing a value.
public struct DataBufferError: Error, Hashable, Sendable {
  /// The kind of error.
  public let code: Code
  /// The number of bytes between the first byte of the record and the error.
  public let offset: Int
  /// A description of what was found and what was expected.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at offset: Int, _ message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  /// The kinds of error.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String

    /// A value needs more bytes than are left.
    public static let endOfBuffer = Code(description: "endOfBuffer")
    /// A length or a count promises more than the remaining bytes can hold.
    public static let countBeyondEnd = Code(description: "countBeyondEnd")
    /// The bytes of a string are not UTF-8.
    public static let invalidUTF8 = Code(description: "invalidUTF8")
    /// The bytes are not a value of the type, such as a Bool of 7 or an unknown enum case.
    public static let invalidValue = Code(description: "invalidValue")
    /// Bytes are left after the object has read its content.
    public static let unreadBytes = Code(description: "unreadBytes")
    /// A reference names a row that its class has never had.
    public static let unknownRow = Code(description: "unknownRow")
    /// A reference names a class that the store doesn't have.
    public static let unknownClass = Code(description: "unknownClass")
    /// A reference names a class that is not registered.
    public static let notRegistered = Code(description: "notRegistered")
    /// A reference was read or written in a buffer that belongs to no store.
    public static let noStore = Code(description: "noStore")
    /// A string, some data or a collection has more than 4,294,967,295 bytes or elements.
    public static let tooLong = Code(description: "tooLong")
    /// A referenced object is deleted, or not inserted in this store.
    public static let notInserted = Code(description: "notInserted")
    /// A referenced object has been deleted by another store.
    public static let deletedElsewhere = Code(description: "deletedElsewhere")
    /// An object is of another class than the reference can name.
    public static let wrongClass = Code(description: "wrongClass")
    /// Values of custom types are nested more than 256 deep, arrays included.
    public static let tooDeep = Code(description: "tooDeep")
    /// An `Encodable` value failed to encode.
    public static let notEncodable = Code(description: "notEncodable")
  }
}

extension DataBufferError: CustomStringConvertible {
  /// The code, the offset, and the message.
  public var description: String { "\(code) at offset \(offset): \(message)" }
}
