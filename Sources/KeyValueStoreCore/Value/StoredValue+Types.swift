public import StoreEngine

extension StoredValue {
  /// Encodes a value of any type.
  ///
  /// Complexity: Linear in the size of the value. Text, numbers, dates and data are encoded
  /// directly; other types use their own encoding.
  ///
  /// - Throws: `StoreError` with `notEncodable` for an integer of more than 64 bits and for more
  ///   than 256 levels of nesting. If the type's own encoding throws, its error is the cause.
  public init<Value: Encodable>(encoding value: Value) throws(StoreError) {
    do {
      self = try StoredValue(coding: value)
    } catch let failure as ValueFailure {
      throw StoreError(.notEncodable, failure.description)
    } catch {
      throw .wrapping(error, .notEncodable, at: .init())
    }
  }

  /// Decodes the value as a type.
  ///
  /// A whole number decodes as each integer type that it fits into, and as `Double` and `Float` if
  /// they represent it exactly. A number that was put as a `Double` decodes as `Double` and `Float`
  /// only.
  ///
  /// Complexity: Linear in the size of the value.
  ///
  /// - Throws: `StoreError` with `typeMismatch`. Its cause is the error of the type's own decoding.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(StoreError)
    -> Value
  {
    let plain: Value? = plain()
    if let plain { return plain }
    do {
      return try decode(as: type)
    } catch let error as DecodingError {
      throw StoreError(
        .typeMismatch, "The value was requested as \(type), and is \(kind): \(error.words)",
        underlying: error)
    } catch {
      throw .wrapping(error, .typeMismatch, at: .init())
    }
  }
}
