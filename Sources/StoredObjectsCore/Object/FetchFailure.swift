import StoreEngine

/// Content that could not be read when a property was accessed.
///
/// See ``Store/fetchFailures``.
public struct FetchFailure: Sendable {
  /// The stored name of the object's class.
  public let className: String
  /// The row ID of the object.
  public let rowID: UInt32
  /// The reason that the record could not be read.
  public let error: StoreError

  init(object: StoredObject, error: StoreError) {
    self.init(className: type(of: object).storedName, rowID: object.rowID, error: error)
  }

  init(className: String, rowID: UInt32, error: StoreError) {
    (self.className, self.rowID, self.error) = (className, rowID, error)
  }
}
