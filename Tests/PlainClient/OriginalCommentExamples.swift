// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import BNRPersistenceEncryption
  import StoredObjects
  import StoredObjectsEncryption

  enum OriginalComments {
    static var phrase: String = notRun()
    static var old: String = notRun()
    static var new: String = notRun()
    static var copy: TokyoCabinetBackend = notRun()

    /// From BNREncryptedBackend.swift.
    static func bnrEncryptedBackendExample() throws {
      let old = try TokyoCabinetBackend(directory: "Old", configuration: .init(access: .readOnly))
      let backend = BNREncryptedBackend(old, passphrase: phrase)
      try BackendCopy(from: backend, to: copy).run()
      _ = (old, backend)
    }

    /// From BNREncryption.swift.
    static func bnrEncryptionExample() throws {
      try BNREncryption.replace(
        directory: "Music", passphrase: old, by: EncryptionKey(passphrase: new))
    }
  }
#endif
