public import StoreEngine

extension EncryptionKey {
  /// Makes a store's own key, at random, and wraps it with this one.
  public func makeSeal() throws(StoreError) -> (seal: any StoreSeal, keyFile: [UInt8]) {
    let keys = try StoreKeys()
    return (AESSeal(keys), try WrappedKey.wrap(keys, with: self))
  }

  /// Unwraps a store's own key.
  ///
  /// Complexity: a passphrase takes what its cost says, by default a fifth of a second.
  ///
  /// - Throws: `StoreError` with `wrongKey` or `damaged`.
  public func openSeal(_ keyFile: [UInt8]) throws(StoreError) -> any StoreSeal {
    AESSeal(try WrappedKey.unwrap(keyFile, with: self))
  }

  /// Wraps a store's own key with another one.
  ///
  /// - Throws: `StoreError` with `wrongKey` or `damaged`.
  public func rewrap(_ keyFile: [UInt8], for newKey: EncryptionKey) throws(StoreError) -> [UInt8] {
    try WrappedKey.wrap(WrappedKey.unwrap(keyFile, with: self), with: newKey)
  }
}
