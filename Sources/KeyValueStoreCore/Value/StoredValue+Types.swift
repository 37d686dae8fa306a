public import StoreEngine

extension StoredValue {
  /// Encodes a value of any type.
  ///
  /// Complexity: linear in the value; text, numbers, dates and data are recognised at once, other
  /// types take their own coding.
  ///
  /// - Throws: `StoreError` with `notEncodable` for an integer of more than 64 bits and for
  ///   what is nested more than 256 deep, and with what the type's own coding throws as its cause.
  public init<Value: Encodable>(encoding value: Value) throws(StoreError) {
    do {
      self = try StoredValue(coding: value)
    } catch let failure as ValueFailure {
      throw StoreError(.notEncodable, failure.description)
    } catch {
      throw .wrapping(error, .notEncodable, at: .init())
    }
  }

  /// Makes a value of some type.
  ///
  /// A whole number is read by every integer type that it fits into, and by `Double` and `Float` if
  /// they hold it exactly. A number that was put as a `Double` is read by `Double` and `Float`
  /// only.
  ///
  /// - Throws: `StoreError` with `typeMismatch`; what the type's own coding throws is its cause.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(StoreError)
    -> Value
  {
    do {
      return try decode(as: type)
    } catch let error as DecodingError {
      throw StoreError(
        .typeMismatch, "It was asked for as \(type), and is \(kind): \(error.words)",
        underlying: error)
    } catch {
      throw .wrapping(error, .typeMismatch, at: .init())
    }
  }
}
