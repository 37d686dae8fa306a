import ArgumentParser
import Files
import Foundation
import StoredObjectsEncryption
import Synchronization

/// The options for the key of an encrypted store; it is never on the command line, which every
/// process can see.
struct KeyOptions: ParsableArguments {
  @Option(
    help: """
      The file with the passphrase of an encrypted store in its first line; - is the standard \
      input, where a terminal does not show what you type.
      """, completion: .file())
  var passphraseFile: String?
  @Option(help: "The environment variable with the passphrase.")
  var passphraseEnv: String?
  @Option(help: "The file with the key of an encrypted store: 32 bytes, or 64 digits in hex.")
  var keyFile: String?

  func validate() throws {
    if [passphraseFile, passphraseEnv, keyFile].compactMap(\.self).count > 1 {
      throw ValidationError("Give the passphrase, or the key, in one way only.")
    }
  }

  /// Returns the key; nil if none is given.
  func key() throws -> EncryptionKey? {
    if let passphraseFile { return try KeySource.passphrase(file: passphraseFile) }
    if let passphraseEnv { return try KeySource.passphrase(variable: passphraseEnv) }
    return try keyFile.map { try KeySource.key(file: $0) } ?? RememberedKey.current
  }

  /// Returns the key for a command that needs one.
  ///
  /// Without an option the user is prompted at a terminal, twice for a new key.
  func neededKey(isNew: Bool = false) throws -> EncryptionKey {
    if let key = try key() { return key }
    guard isAtTerminal else {
      throw ValidationError(
        "Say where the key is: --passphrase-file, --passphrase-env or --key-file.")
    }
    return try KeySource.typedPassphrase(isRepeated: isNew)
  }
}

/// The key of the store that a shell has open, so that it is not asked for at every command.
enum RememberedKey {
  private static let key = Mutex<EncryptionKey?>(nil)

  static var current: EncryptionKey? { key.withLock { $0 } }

  static func remember(_ newKey: EncryptionKey?) { key.withLock { $0 = newKey } }
}

/// The sources of passphrases and keys.
enum KeySource {
  static func passphrase(file: String) throws -> EncryptionKey {
    if file == "-" { return try key(of: readHiddenLine("Passphrase: "), "the standard input") }
    let text = String(decoding: try content(file), as: UTF8.self)
    return try key(
      of: text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first
        .map(String.init), "\"\(file)\"")
  }

  /// Prompts for a passphrase.
  static func typedPassphrase(isRepeated: Bool) throws -> EncryptionKey {
    let passphrase = readHiddenLine("Passphrase: ")
    if isRepeated, readHiddenLine("The same passphrase again: ") != passphrase {
      throw Failure(description: "The two passphrases differ. Nothing was changed.")
    }
    return try key(of: passphrase, "what was typed")
  }

  static func passphrase(variable: String) throws -> EncryptionKey {
    try key(of: ProcessInfo.processInfo.environment[variable], "the variable \(variable)")
  }

  private static func key(of passphrase: String?, _ path: String) throws -> EncryptionKey {
    guard let passphrase, !passphrase.isEmpty else {
      throw Failure(description: "There is no passphrase in \(path).")
    }
    return EncryptionKey(passphrase: passphrase)
  }

  static func key(file: String) throws -> EncryptionKey {
    let bytes = [UInt8](try content(file))
    if bytes.count == EncryptionKey.byteCount { return EncryptionKey(bytes: bytes) }
    let digits = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
    let pairs = stride(from: 0, to: digits.count - 1, by: 2).map { digits.dropFirst($0).prefix(2) }
    let key = pairs.compactMap { UInt8($0, radix: 16) }
    guard key.count == EncryptionKey.byteCount, digits.count == 2 * key.count else {
      throw Failure(
        description: "\"\(file)\" is not a key: a key is 32 bytes, or 64 digits in hex.")
    }
    return EncryptionKey(bytes: key)
  }

  private static func content(_ file: String) throws -> Data {
    guard let content = FileManager.default.contents(atPath: file) else {
      throw Failure(description: "\"\(file)\" can't be read.")
    }
    return content
  }
}
