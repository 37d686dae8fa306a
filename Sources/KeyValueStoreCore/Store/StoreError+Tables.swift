import StoreEngine

extension StoreError {
  /// Describes a failure that is about a table, or an item in it.
  init(
    _ code: Code, _ message: String, table: String?, key: String? = nil,
    underlying: (any Error)? = nil
  ) {
    self.init(code, message, at: .init(table: table, key: key), underlying: underlying)
  }

  /// The same error, which is about an item in a table.
  func naming(table: String?, key: String) -> StoreError {
    var location = location
    (location.table, location.key) = (table, key)
    return StoreError(code, message, at: location, underlying: underlying)
  }
}
