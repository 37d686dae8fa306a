import ArgumentParser
import Foundation
import KeyValueStore
import StoredObjectsEncryption

/// The options for the store of a command and its passphrase.
struct StoreOption: ParsableArguments {
  @Option(help: "The directory of the notes.", completion: .directory)
  var store: String?
  @Option(
    help: """
      The file with the passphrase in its first line; - is standard input. A new notebook is \
      encrypted with it.
      """, completion: .file())
  var passphraseFile: String?
  @Option(help: "The environment variable with the passphrase.")
  var passphraseEnv: String?

  func validate() throws {
    if passphraseFile != nil && passphraseEnv != nil {
      throw ValidationError("Use --passphrase-file or --passphrase-env, not both.")
    }
  }

  /// Opens the notes, and closes them also after an error.
  func withNotes(_ body: (KeyValueTable) throws -> Void) throws {
    let key = try key()
    var configuration = TokyoCabinetBackend.Configuration()
    // Several commands can use the store at once.
    configuration.sharing = .processes
    let store =
      if let store {
        try KeyValueStore(directory: store, configuration: configuration, key: key)
      } else {
        try KeyValueStore(named: "Notebook", configuration: configuration, key: key)
      }
    do {
      try body(store.createTable("notes"))
    } catch {
      try? store.close()
      throw error
    }
    try store.close()
  }

  /// Returns the key; nil without a passphrase.
  ///
  /// No option has the passphrase itself, because every process can see the command line.
  private func key() throws -> EncryptionKey? {
    if passphraseFile == nil && passphraseEnv == nil { return nil }
    guard let passphrase = try passphrase(), !passphrase.isEmpty else {
      throw Failure(description: "The passphrase is missing or empty.")
    }
    return EncryptionKey(passphrase: passphrase)
  }

  private func passphrase() throws -> String? {
    if let passphraseEnv { return ProcessInfo.processInfo.environment[passphraseEnv] }
    guard let passphraseFile, passphraseFile != "-" else { return readLine() }
    guard let content = FileManager.default.contents(atPath: passphraseFile) else {
      throw Failure(description: "\"\(passphraseFile)\" can't be read.")
    }
    return String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline).first
      .map(String.init)
  }
}
