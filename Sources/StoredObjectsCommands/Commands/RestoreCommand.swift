import ArgumentParser
import Foundation
import StoreAddresses
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Create a store as of an earlier commit, from a store with a history or a backup.",
    discussion: """
      The store itself does not change, and programs can save to it meanwhile. In the copy, one \
      commit undoes all later ones, and log shows both.

      If the store is on a server, --backend names the format of the new store, which is made in \
      memory first.

      From a continuous backup, the last commit is restored, or any earlier one. One more commit \
      gives the history of the new store an ID of its own.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(
    help: "The directory of the copy, which must not exist or be empty.", completion: .directory)
  var target: String
  @Option(help: "The number of the last commit to restore.") var commit: UInt64?
  @Option(help: "Restore the last commit up to a time, such as 2026-11-25T18:30:00Z.")
  var time: CommitArgument?
  @Option(help: "The format of the new store if the old one is on a server: tokyo-cabinet or cdb.")
  var backend: StoreFormat?
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var commit: UInt64
  }

  func validate() throws {
    guard commit == nil || time == nil, commit != nil || time != nil || isBackup else {
      throw ValidationError("Give either --commit or --time.")
    }
    if (backend == nil) == ServerAddress.isURL(store.directory) {
      throw ValidationError("Give --backend for a store on a server, and only for that.")
    }
    if case .number? = time {
      throw ValidationError("--time must be a time such as 2026-11-25T18:30:00Z.")
    }
  }

  private var isBackup: Bool { ContinuousBackup.isBackup(store.directory) }

  private func restoreBackup() throws -> UInt64 {
    let key = try store.key.key()
    let point: ContinuousBackup.RestorePoint =
      if let commit { .commit(commit) } else if case .moment(let date)? = time { .time(date) } else
      {
        .newest
      }
    let line = ProgressLine("restore")
    defer { line.end() }
    return try ContinuousBackup.restore(from: store.directory, to: target, point) {
      (path) throws(StoreError) in
      var place = store
      place.directory = path
      do {
        return try place.openForReading(key)
      } catch {
        throw error as? StoreError ?? StoreError(.ioError, "\(error)", at: .init(path: path))
      }
    } progress: {
      line.show($0)
    }
  }

  func run() throws {
    if isBackup {
      let number = try restoreBackup()
      return try output.write(Report(target: target, commit: number)) {
        ["The store as of commit \(number) is in \(target)."]
      }
    }
    let key = try store.key.key()
    let number = try backend.map { try restoreServer(key, $0) } ?? restoreDirectory(key)
    try output.write(Report(target: target, commit: number)) {
      ["The store as of commit \(number) is in \(target)."]
    }
  }

  private func restoreDirectory(_ key: EncryptionKey?) throws -> UInt64 {
    let backend = try store.openForReading(key)
    let number = try number(in: backend)
    try backend.backup(to: target) { _ in }
    try backend.close()
    var place = store
    place.directory = target
    let copy = try place.openForWriting(key)
    try copy.revert(toCommit: number, author: "restore")
    try copy.close()
    return number
  }

  private func restoreServer(_ key: EncryptionKey?, _ format: StoreFormat) throws -> UInt64 {
    let source = try store.openAnyForReading(key)
    let number = try number(in: source)
    // Programs may go on saving.
    let state = try source.snapshot()
    try NewDirectory(target).make { directory in
      let copy = try format.open(directory, key: key)
      try BackendCopy(from: state, to: copy).run()
      try copy.revert(toCommit: number, author: "restore")
      try copy.checkpoint()
      try copy.close()
    }
    try state.close()
    try source.close()
    return number
  }

  /// Returns the number of the last commit that counts.
  ///
  /// It is checked before anything is copied: a commit that is not in the history can't be restored.
  private func number(in backend: any StoreBackend) throws -> UInt64 {
    let number = try commit ?? time?.number(in: backend) ?? backend.lastCommitNumber
    try backend.checkHistory(reachesBackTo: number)
    return number
  }
}
