import Files
import FoundationEssentials
@_exported public import KeyValueStoreCore
@_exported public import StoreEngine
@_exported public import TokyoCabinetBackend

extension KeyValueStore {
  /// Opens the store of a name in the user's data directory, or makes it.
  ///
  ///     let store = try KeyValueStore(named: "Notebook")   // ~/.local/share/Notebook
  ///
  /// The directory is `$XDG_DATA_HOME`, or `~/.local/share` where that is not set. A name is any
  /// text; `/`, `%` and a dot at its beginning are written as `%2F`, `%25` and `%2E`, so that it
  /// never leads elsewhere. A new directory is for its owner only.
  ///
  /// - Parameters:
  ///   - name: The name, as a person would say it.
  ///   - configuration: How to open it; by default for reading and writing, at full durability.
  ///   - key: What an encrypted store is opened with, see ``init(directory:configuration:key:)``.
  /// - Throws: `StoreError` with `invalidName` for a name that is empty or longer than 255
  ///   bytes; as ``init(directory:configuration:key:)``.
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

  /// Opens the store in a directory, or makes it.
  ///
  /// With a key, the `EncryptionKey` of the product `StoredObjectsEncryption`, a new store is
  /// encrypted, and one that was made so is opened: names of tables, keys, values and times are
  /// then readable nowhere on the disk.
  ///
  ///     import StoredObjectsEncryption
  ///     let key = EncryptionKey(passphrase: phrase)
  ///     let store = try KeyValueStore(named: "Notebook", key: key)
  ///
  /// - Parameters:
  ///   - directory: The path of the directory; those above it are made, too.
  ///   - configuration: How to open it; by default for reading and writing, at full durability.
  ///   - key: What an encrypted store is opened with; nil for one that is not encrypted.
  /// - Throws: `StoreError` with `inUse` when another process, or another store in this one, has it
  ///   open, `wrongKey`, `encrypted` when it needs a key, `notEncrypted` when it has none,
  ///   `damaged` or `ioError`; `StoreError` with `damaged`.
  public convenience init(
    directory: String, configuration: TokyoCabinetBackend.Configuration = .init(),
    key: (any StoreKey)? = nil
  ) throws(StoreError) {
    try self.init(
      backend: TokyoCabinetBackend(directory: directory, configuration: configuration, key: key))
  }
}

/// Where the data of a user's programs lies, as the XDG Base Directory Specification says.
package enum UserData {
  /// The directory for a name.
  ///
  /// - Throws: `StoreError` with `invalidName`.
  package static func directory(
    named name: String, _ environment: [String: String]
  ) throws(StoreError) -> String {
    let file = fileName(name)
    guard !name.isEmpty, file.utf8.count <= 255 else {
      throw StoreError(
        .invalidName,
        "The name of a store must have 1 to 255 bytes, and \(name.debugDescription) has not.")
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

  /// A path that is not absolute is to be ignored, says the specification.
  private static func root(_ environment: [String: String]) throws(StoreError) -> String {
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data }
    if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/share" }
    throw StoreError(
      .invalidName,
      "The user has no home directory: set HOME or XDG_DATA_HOME, or name a directory.")
  }
}
