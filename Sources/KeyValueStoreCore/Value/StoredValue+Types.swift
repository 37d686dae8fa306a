public import StoreEngine

extension StoredValue {
  /// Encodes a value of any type.
  ///
  /// Complexity: linear in the value; text, numbers, dates and data are recognised at once, other
  /// types take their own coding.
  ///
  /// - Throws: ``KeyValueError`` with `notEncodable` for an integer of more than 64 bits and for
  ///   what is nested more than 256 deep; what the type's own coding throws.
  public init<Value: Encodable>(encoding value: Value) throws {
    do {
      self = try StoredValue(coding: value)
    } catch let failure as ValueFailure {
      throw KeyValueError(.notEncodable, failure.description)
    }
  }

  /// Makes a value of some type.
  ///
  /// A whole number is read by every integer type that it fits into, and by `Double` and `Float` if
  /// they hold it exactly. A number that was put as a `Double` is read by `Double` and `Float`
  /// only.
  ///
  /// - Throws: ``KeyValueError`` with `typeMismatch`, and what the type's own coding throws.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    do {
      return try decode(as: type)
    } catch let error as DecodingError {
      throw KeyValueError(
        .typeMismatch, "It was asked for as \(type), and is \(kind): \(error.words)",
        underlying: error)
    }
  }
}
