import ArgumentParser
import Foundation
import KeyValueStore
import StoredObjectsEncryption

/// Which store the commands use, and what opens it.
struct StoreOption: ParsableArguments {
  @Option(help: "The directory of the notes.", completion: .directory)
  var store: String?
  @Option(
    help: """
      The file that has the passphrase in its first line; - is the standard input. A new notebook is \
      encrypted by it.
      """, completion: .file())
  var passphraseFile: String?
  @Option(help: "The variable of the environment that has the passphrase.")
  var passphraseEnv: String?

  func validate() throws {
    if passphraseFile != nil && passphraseEnv != nil {
      throw ValidationError("Give the passphrase in one way only.")
    }
  }

  /// Opens the notes, and closes them whatever happens.
  func withNotes(_ body: (KeyValueTable) throws -> Void) throws {
    let key = try key()
    var configuration = TokyoCabinetBackend.Configuration()
    // Any number of commands may be at work at once.
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

  /// The key; nil when no passphrase is given.
  ///
  /// None comes from the command line itself, which every process can see.
  private func key() throws -> EncryptionKey? {
    if passphraseFile == nil && passphraseEnv == nil { return nil }
    guard let passphrase = try passphrase(), !passphrase.isEmpty else {
      throw Failure(description: "There is no passphrase there.")
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
