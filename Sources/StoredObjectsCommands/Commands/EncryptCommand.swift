import ArgumentParser
import StoredObjectsCore

struct EncryptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "encrypt", abstract: "Encrypt a store, in place.",
    discussion: """
      The store is copied into a directory next to it, compared, and exchanged with the copy in \
      one step. Then the old files are removed. The disk may keep traces of them for some time. \
      After a crash, run the command again. Without the passphrase the store can't be read: keep it.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  func run() throws {
    let key = try store.key.neededKey(isNew: true)
    let line = ProgressLine("encrypt")
    defer { line.end() }
    try store.backendOfWreck().encrypt(directory: store.directory, key: key) { line.show($0) }
    line.end()
    try output.write(ConversionReport(isEncrypted: true)) {
      ["\(store.directory) is encrypted."]
    }
  }
}

struct DecryptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decrypt", abstract: "Decrypt a store, in place.",
    discussion: "Takes the same steps as encrypt. After a crash, run the command again.")

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  func run() throws {
    let key = try store.key.neededKey()
    let line = ProgressLine("decrypt")
    defer { line.end() }
    try store.backendOfWreck().decrypt(directory: store.directory, key: key) { line.show($0) }
    line.end()
    try output.write(ConversionReport(isEncrypted: false)) {
      ["\(store.directory) is no longer encrypted."]
    }
  }
}

/// The report of `encrypt` and `decrypt`.
private struct ConversionReport: Encodable {
  var isEncrypted: Bool
}
