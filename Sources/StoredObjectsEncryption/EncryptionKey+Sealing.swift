public import StoreEngine

extension EncryptionKey {
  /// Creates a random key for a store, and wraps it with this key.
  ///
  /// Complexity: for a passphrase, the time of its cost; by default a fifth of a second.
  ///
  /// - Throws: `StoreError` with `wrongKey` for an empty passphrase or a key of the wrong size, or
  ///   `ioError` if the system has no random numbers.
  public func makeSeal() throws(StoreError) -> (seal: any StoreSeal, keyFile: [UInt8]) {
    let keys = try StoreKeys()
    return (AESSeal(keys), try WrappedKey.wrap(keys, with: self))
  }

  /// Unwraps the key of a store.
  ///
  /// Complexity: For a passphrase, the time of its cost; by default a fifth of a second.
  ///
  /// - Throws: `StoreError` with `wrongKey` or `damaged`.
  public func openSeal(_ keyFile: [UInt8]) throws(StoreError) -> any StoreSeal {
    AESSeal(try WrappedKey.unwrap(keyFile, with: self))
  }

  /// Wraps the key of a store with another key.
  ///
  /// Complexity: for each of the two keys that is a passphrase, the time of its cost.
  ///
  /// - Throws: `StoreError` with `wrongKey` or `damaged`, or with `ioError` if the system gives no
  ///   random numbers.
  public func rewrap(_ keyFile: [UInt8], for newKey: EncryptionKey) throws(StoreError) -> [UInt8] {
    try WrappedKey.wrap(WrappedKey.unwrap(keyFile, with: self), with: newKey)
  }
}
