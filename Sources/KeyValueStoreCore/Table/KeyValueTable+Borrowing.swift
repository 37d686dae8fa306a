import Files
import StoreEngine

extension KeyValueTable {
  /// Calls a closure with the bytes of a value, which are not copied.
  ///
  ///     let size = try images.withBytes(of: "logo") { $0.byteCount }
  ///
  /// The value must have been put as `Data`, or as a string, whose bytes are UTF-8. It is verified
  /// before the call. The bytes are valid only in the closure, which must not use the store.
  ///
  /// Complexity: O(log n), and linear in the size of the value. On a backend in files that is not
  /// encrypted, no memory is allocated.
  ///
  /// - Returns: The result of the closure, or nil if there is no such key.
  /// - Throws: The errors of the closure; and `StoreError` with `typeMismatch` if the value has
  ///   another type, `noSuchTable`, `damaged` or `newerVersion`, and the errors of the backend.
  @inlinable
  public func withBytes<Result>(
    of key: String, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try lendBytes(of: key) { result = try body($0) }
    return result
  }

  /// Calls a closure with the bytes of a value, if there is one.
  ///
  /// It is not generic, so that calls from other modules are direct.
  @usableFromInline
  func lendBytes(of key: String, _ body: (RawSpan) throws -> Void) throws {
    var failure: (any Error)?
    try lendItem(key) { (key, item) throws(StoreError) in
      try ItemFormat.lendBytes(item, of: key, state, where: { exists($0) }) { bytes in
        do { try body(bytes) } catch { failure = error }
      }
    }
    if let failure { throw failure }
  }
}
