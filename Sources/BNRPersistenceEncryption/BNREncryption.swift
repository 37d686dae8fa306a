public import StoreEngine
import TokyoCabinetBackend

/// Converts stores that BNRPersistence has encrypted, in place.
public enum BNREncryption {
  /// Decrypts a store of the original, and encrypts it with a key of today.
  ///
  ///     try BNREncryption.replace(directory: "Music", passphrase: old, by:
  ///     EncryptionKey(passphrase: new))
  ///
  /// By the same safe steps as `TokyoCabinetBackend.encrypt(directory:key:progress:)`, and with the
  /// same errors; the same call finishes what a crash has cut off.
  ///
  /// - Warning: The original's encryption hid little, see *Encryption* in the pages of
  ///   `StoreEngine`. Treat the content of the old files and the old passphrase as known.
  ///
  /// - Parameters:
  ///   - directory: The store; nobody may have it open.
  ///   - passphrase: The original's `encryptionKey`.
  ///   - key: What the store opens with afterwards; nil leaves it decrypted.
  ///   - allowsPlainRecords: See ``BNREncryptedBackend/init(_:passphrase:allowsPlainRecords:)``.
  ///   - progress: Hears of each class.
  /// - Throws: `StoreError` with `wrongKey`, which names the record, when the passphrase does not
  ///   open it; what `encrypt` throws.
  public static func replace(
    directory: String, passphrase: String, by key: (any StoreKey)?,
    allowsPlainRecords: Bool = false, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    try TokyoCabinetBackend.convert(directory: directory, to: key, progress: progress) {
      BNREncryptedBackend($0, passphrase: passphrase, allowsPlainRecords: allowsPlainRecords)
    }
  }
}
