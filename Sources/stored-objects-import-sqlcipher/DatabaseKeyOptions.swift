import ArgumentParser
import Files
import Foundation
import YTKImport

/// The options for the key of the file; it is never on the command line, which every process can
/// see.
struct DatabaseKeyOptions: ParsableArguments {
  @Option(
    help: """
      The file with the passphrase in its first line; - is the standard input, where a terminal \
      does not show what you type.
      """, completion: .file())
  var passphraseFile: String?
  @Option(help: "The environment variable with the passphrase.")
  var passphraseEnv: String?
  @Option(help: "The file with the key itself: 64 digits in hex.", completion: .file())
  var keyFile: String?

  func validate() throws {
    if [passphraseFile, passphraseEnv, keyFile].compactMap(\.self).count > 1 {
      throw ValidationError("Give the passphrase, or the key, in one way only.")
    }
  }

  /// Returns the key; without an option the user is prompted at a terminal.
  func key() throws -> DatabaseKey {
    if let keyFile { return try key(ofFile: keyFile) }
    if let name = passphraseEnv {
      return try key(ProcessInfo.processInfo.environment[name], "the variable \(name)")
    }
    if let file = passphraseFile, file != "-" {
      return try key(firstLine(of: file), "\"\(file)\"")
    }
    guard passphraseFile != nil || isAtTerminal else {
      throw ValidationError(
        "Say where the key is: --passphrase-file, --passphrase-env or --key-file.")
    }
    return try key(readHiddenLine("Passphrase of the file: "), "the standard input")
  }

  private func key(_ passphrase: String?, _ source: String) throws -> DatabaseKey {
    guard let passphrase, !passphrase.isEmpty else {
      throw ValidationError("There is no passphrase in \(source).")
    }
    return DatabaseKey(passphrase: passphrase)
  }

  private func firstLine(of file: String) throws -> String? {
    guard let content = FileManager.default.contents(atPath: file) else {
      throw ValidationError("\"\(file)\" can't be read.")
    }
    return String(decoding: content, as: UTF8.self)
      .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first
      .map(String.init)
  }

  private func key(ofFile file: String) throws -> DatabaseKey {
    let digits = Array(try firstLine(of: file) ?? "")
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    guard digits.count == 64, let key = DatabaseKey(raw: bytes) else {
      throw ValidationError("\"\(file)\" is not a key: a key is 64 digits in hex.")
    }
    return key
  }
}
