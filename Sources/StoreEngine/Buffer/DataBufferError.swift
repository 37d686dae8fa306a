/// Bytes that can't be read as what was asked for, or a value that can't be written.
public struct DataBufferError: Error, Hashable, Sendable {
  /// What is wrong.
  public let code: Code
  /// Where: the number of bytes before the fault, counted from the first byte of the record.
  public let offset: Int
  /// What was found there and what was expected.
  public let message: String

  /// Describes a fault.
  public init(_ code: Code, at offset: Int, _ message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  /// The kinds of fault.
  ///
  /// More may be added: a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String

    /// A value needs more bytes than are left.
    public static let endOfBuffer = Code(description: "endOfBuffer")
    /// A length or a count promises more than the bytes that are left can hold.
    public static let countBeyondEnd = Code(description: "countBeyondEnd")
    /// The bytes of a string are not UTF-8.
    public static let invalidUTF8 = Code(description: "invalidUTF8")
    /// The bytes are no value of the type: a Bool of 7, an enum without such a case.
    public static let invalidValue = Code(description: "invalidValue")
    /// Bytes are left although the object has read everything it wanted.
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
    /// An object was referred to that is not inserted in this store, or is deleted.
    public static let notInserted = Code(description: "notInserted")
    /// An object was referred to that another store has deleted.
    public static let deletedElsewhere = Code(description: "deletedElsewhere")
    /// An object is of another class than the reference can name.
    public static let wrongClass = Code(description: "wrongClass")
    /// Values of one's own types are nested more than 256 deep, arrays included.
    public static let tooDeep = Code(description: "tooDeep")
    /// An `Encodable` value did not encode.
    public static let notEncodable = Code(description: "notEncodable")
  }
}

extension DataBufferError: CustomStringConvertible {
  /// The code, the offset, and the message.
  public var description: String { "\(code) at offset \(offset): \(message)" }
}
