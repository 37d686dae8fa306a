import StoreEngine

extension StoreError {
  /// Creates an error about a table, or an item in it.
  init(
    _ code: Code, _ message: String, table: String?, key: String? = nil,
    underlying: (any Error)? = nil
  ) {
    self.init(code, message, at: .init(table: table, key: key), underlying: underlying)
  }

  /// Returns the error for a value whose bytes can't be borrowed.
  static func noBytes(_ value: StoredValue) -> StoreError {
    StoreError(
      .typeMismatch,
      "Only the bytes of Data and of a String can be borrowed, and the value is \(value.kind).")
  }

  /// Returns the error with the location of an item in a table.
  func naming(table: String?, key: String) -> StoreError {
    var location = location
    (location.table, location.key) = (table, key)
    return StoreError(code, message, at: location, underlying: underlying)
  }
}
