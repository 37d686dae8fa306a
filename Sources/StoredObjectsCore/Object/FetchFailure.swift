/// Content that could not be read when a property was asked for it.
///
/// See ``Store/fetchFailures``.
public struct FetchFailure: Sendable {
  /// The stored name of the object's class.
  public let className: String
  /// The object's row.
  public let rowID: UInt32
  /// Why the record could not be read.
  public let error: StoreError

  init(object: StoredObject, error: StoreError) {
    className = type(of: object).storedName
    rowID = object.rowID
    self.error = error
  }
}
