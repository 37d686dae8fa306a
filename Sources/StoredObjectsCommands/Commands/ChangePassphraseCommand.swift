import ArgumentParser
import Files
import StoredObjectsCore
import StoredObjectsEncryption

struct ChangePassphraseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "change-passphrase",
    abstract: "Give an encrypted store another passphrase or key.",
    discussion: """
      Only Commit.key is rewritten. An old copy of it still opens the store with the old \
      passphrase: if that matters, decrypt the store and encrypt it again.
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "The file with the new passphrase in its first line; - is the standard input.")
  var newPassphraseFile: String?
  @Option(help: "The environment variable with the new passphrase.")
  var newPassphraseEnv: String?
  @Option(help: "The file with the new key: 32 bytes, or 64 digits in hex.")
  var newKeyFile: String?
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable { var isChanged: Bool }

  func validate() throws {
    if [newPassphraseFile, newPassphraseEnv, newKeyFile].compactMap(\.self).count > 1 {
      throw ValidationError(
        "Give the new passphrase, or the new key, in one way only."
      )
    }
  }

  func run() throws {
    let old = try store.key.neededKey()
    try store.backendOfWreck().changeKey(
      directory: store.directory, from: old, to: newKey())
    try output.write(Report(isChanged: true)) { ["\(store.directory) has a new key."] }
  }

  private func newKey() throws -> EncryptionKey {
    if let newPassphraseFile { return try KeySource.passphrase(file: newPassphraseFile) }
    if let newPassphraseEnv { return try KeySource.passphrase(variable: newPassphraseEnv) }
    if let newKeyFile { return try KeySource.key(file: newKeyFile) }
    guard isAtTerminal else {
      throw ValidationError(
        "Say where the new key is: --new-passphrase-file, --new-passphrase-env or --new-key-file.")
    }
    return try KeySource.typedPassphrase(isRepeated: true)
  }
}
