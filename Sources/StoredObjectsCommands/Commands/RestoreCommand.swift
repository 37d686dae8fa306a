import ArgumentParser
import Foundation
import StoredObjectsCore

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Create a store as of an earlier commit, from a store with a history or a backup.",
    discussion: """
      The store itself does not change, and programs can save to it meanwhile. In the copy, one \
      commit undoes all later ones, and log shows both.

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
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var commit: UInt64
  }

  func validate() throws {
    guard commit == nil || time == nil, commit != nil || time != nil || isBackup else {
      throw ValidationError("Give either --commit or --time.")
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
    let backend = try store.openForReading(key)
    let number = try commit ?? time?.number(in: backend) ?? backend.lastCommitNumber
    // Checked before anything is copied: a commit that is not in the history can't be restored.
    try backend.checkHistory(reachesBackTo: number)
    try backend.backup(to: target) { _ in }
    try backend.close()
    var place = store
    place.directory = target
    let copy = try place.openForWriting(key)
    try copy.revert(toCommit: number, author: "restore")
    try copy.close()
    try output.write(Report(target: target, commit: number)) {
      ["The store as of commit \(number) is in \(target)."]
    }
  }
}
