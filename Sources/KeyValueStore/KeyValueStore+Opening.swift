import Files
import FoundationEssentials
@_exported public import KeyValueStoreCore
@_exported public import StoreEngine
@_exported public import TokyoCabinetBackend

extension KeyValueStore {
  /// Opens the store with a name in the user's data directory, or creates it.
  ///
  ///     let store = try KeyValueStore(named: "Notebook")   // ~/.local/share/Notebook
  ///
  /// The directory is `$XDG_DATA_HOME`, or `~/.local/share` if that is not set. The name may be any
  /// text: `/`, `%` and a leading dot are written as `%2F`, `%25` and `%2E`, so that the name never
  /// leads to another directory. A new directory is accessible to its owner only.
  ///
  /// Complexity: As ``init(directory:configuration:key:)``.
  ///
  /// - Parameters:
  ///   - name: A readable name.
  ///   - configuration: The way to open the store; by default for reading and writing, at full
  ///     durability.
  ///   - key: The key of an encrypted store, see ``init(directory:configuration:key:)``.
  /// - Throws: `StoreError` with `invalidName` for a name that is empty or longer than 255 bytes,
  ///   and the errors of ``init(directory:configuration:key:)``.
  public convenience init(
    named name: String, configuration: TokyoCabinetBackend.Configuration = .init(),
    key: (any StoreKey)? = nil
  ) throws(StoreError) {
    let directory = try UserData.directory(named: name, ProcessInfo.processInfo.environment)
    if configuration.access == .readWrite && configuration.createIfMissing {
      try systemErrors(at: directory) {
        try makeDirectories(directory, mode: 0o700, modeAbove: 0o700)
      }
    }
    try self.init(directory: directory, configuration: configuration, key: key)
  }

  /// Opens the store in a directory, or creates it.
  ///
  /// With a key, a new store is encrypted, and an existing encrypted store is opened. No names of
  /// tables, keys, values or times are readable on disk then. The key is an `EncryptionKey` of the
  /// product `StoredObjectsEncryption`.
  ///
  ///     import StoredObjectsEncryption
  ///     let key = EncryptionKey(passphrase: phrase)
  ///     let store = try KeyValueStore(named: "Notebook", key: key)
  ///
  /// Complexity: Linear in the number of files and tables, and in the size of the log, which is
  /// read.
  ///
  /// - Parameters:
  ///   - directory: The path of the directory; missing parent directories are created, too.
  ///   - configuration: The way to open the store; by default for reading and writing, at full
  ///     durability.
  ///   - key: The key of an encrypted store; nil for a store without encryption.
  /// - Throws: `StoreError` with `inUse` if another process, or another store in this one, has it
  ///   open, `wrongKey`, `encrypted` if the store needs a key, `notEncrypted` if it has none,
  ///   `damaged` or `ioError`.
  public convenience init(
    directory: String, configuration: TokyoCabinetBackend.Configuration = .init(),
    key: (any StoreKey)? = nil
  ) throws(StoreError) {
    try self.init(
      backend: TokyoCabinetBackend(directory: directory, configuration: configuration, key: key))
  }
}

/// The location of a user's program data, according to the XDG Base Directory Specification.
package enum UserData {
  /// Returns the directory for a name.
  ///
  /// - Throws: `StoreError` with `invalidName`.
  package static func directory(
    named name: String, _ environment: [String: String]
  ) throws(StoreError) -> String {
    let file = fileName(name)
    guard !name.isEmpty, file.utf8.count <= 255 else {
      throw StoreError(
        .invalidName,
        "The name of a store must have 1 to 255 bytes, and \(name.debugDescription) does not.")
    }
    return try root(environment) + "/" + file
  }

  private static func fileName(_ name: String) -> String {
    var file = ""
    for (index, scalar) in name.unicodeScalars.enumerated() {
      switch scalar {
      case "/": file += "%2F"
      case "%": file += "%25"
      case "\0": file += "%00"
      case "." where index == 0: file += "%2E"
      default: file.unicodeScalars.append(scalar)
      }
    }
    return file
  }

  /// Returns the data directory; the specification says to ignore relative paths.
  private static func root(_ environment: [String: String]) throws(StoreError) -> String {
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data }
    if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/share" }
    throw StoreError(
      .invalidName,
      "The user has no home directory: set HOME or XDG_DATA_HOME, or name a directory.")
  }
}
