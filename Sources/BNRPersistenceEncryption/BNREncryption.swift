public import StoreEngine
import TokyoCabinetBackend

/// A conversion of stores that BNRPersistence has encrypted, in place.
public enum BNREncryption {
  /// Decrypts a store of BNRPersistence, and encrypts it with a new key.
  ///
  ///     try BNREncryption.replace(
  ///       directory: "Music", passphrase: old, by: EncryptionKey(passphrase: new))
  ///
  /// It works in the same safe steps as `TokyoCabinetBackend.encrypt(directory:key:progress:)`,
  /// with the same errors. After a crash, the same call completes the conversion.
  ///
  /// - Warning: The encryption of BNRPersistence is weak, see *Encryption* in the pages of
  ///   `StoreEngine`. Treat the content of the old files and the old passphrase as known.
  ///
  /// Complexity: linear in the size of the store. There must be room for it twice.
  ///
  /// - Parameters:
  ///   - directory: The store, which nothing else may have open.
  ///   - passphrase: The `encryptionKey` of the original.
  ///   - key: The new key of the store; nil leaves the store decrypted.
  ///   - allowsPlainRecords: See ``BNREncryptedBackend/init(_:passphrase:allowsPlainRecords:)``.
  ///   - progress: Called for each class.
  /// - Throws: `StoreError` with `wrongKey`, which names the record, if the passphrase does not
  ///   open it, and the errors of `encrypt`.
  public static func replace(
    directory: String, passphrase: String, by key: (any StoreKey)?,
    allowsPlainRecords: Bool = false, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try TokyoCabinetBackend.convert(directory: directory, to: key, progress: progress) {
      BNREncryptedBackend($0, passphrase: passphrase, allowsPlainRecords: allowsPlainRecords)
    }
  }
}
