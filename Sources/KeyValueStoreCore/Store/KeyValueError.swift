/// What went wrong with a table or an item, which one, and what to do about it.
///
///     do {
///       let count = try settings.get("launches", as: Int.self)
///     } catch let error as KeyValueError where error.code == .typeMismatch {
///       print("\(error)")
///     }
///
/// What the backend reports (a full disk, a closed or read-only store) is a `StoreError`, and
/// passes through as it is. The description names table and key, but never a value.
public struct KeyValueError: Error, Sendable {
  /// What kind of thing went wrong.
  public let code: Code
  /// What happened, and what to do, in a sentence or two.
  public let message: String
  /// The table, if it is about one.
  public let table: String?
  /// The key, if it is about one.
  public let key: String?
  /// The error of a lower layer, or of a type's own coding, that caused this one.
  public let underlying: (any Error)?

  /// Describes a failure.
  public init(
    _ code: Code, _ message: String, table: String? = nil, key: String? = nil,
    underlying: (any Error)? = nil
  ) {
    (self.code, self.message, self.underlying) = (code, message, underlying)
    (self.table, self.key) = (table, key)
  }

  /// The kinds of failure.
  ///
  /// More may be added: a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in the source.
    public let description: String

    /// There is no table of this name, or it has been dropped.
    public static let noSuchTable = Code(description: "noSuchTable")
    /// The value is of another type than the one it was asked for.
    public static let typeMismatch = Code(description: "typeMismatch")
    /// The value can't be encoded.
    public static let notEncodable = Code(description: "notEncodable")
    /// The item is larger than a table can keep.
    public static let tooLarge = Code(description: "tooLarge")
    /// The bytes of an item make no sense.
    public static let damaged = Code(description: "damaged")
    /// The item was written by a newer version of this library.
    public static let newerVersion = Code(description: "newerVersion")
    /// The time after which an item expires is not after now.
    public static let invalidExpiry = Code(description: "invalidExpiry")
    /// A limit or an offset is negative.
    public static let invalidArgument = Code(description: "invalidArgument")
    /// The name can't be that of a store.
    public static let invalidName = Code(description: "invalidName")
    /// Another `KeyValueStore` is on the same backend.
    public static let inUse = Code(description: "inUse")
    /// A write was begun inside another one.
    public static let nestedWrite = Code(description: "nestedWrite")
  }
}

extension KeyValueError: CustomStringConvertible {
  /// The code, the table and the key, the message, and the cause.
  public var description: String {
    var location = table.map { "table \($0.debugDescription)" } ?? ""
    if let key { location += "\(location.isEmpty ? "" : ", ")key \(key.debugDescription)" }
    var text = "\(code)"
    if !location.isEmpty { text += " [\(location)]" }
    text += ": \(message)"
    if let underlying { text += " (\(underlying))" }
    return text
  }
}
