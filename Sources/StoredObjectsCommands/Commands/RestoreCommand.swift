import ArgumentParser
import Foundation
import StoredObjectsCore

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a store as of an earlier commit, of a store with a history or of a backup.",
    discussion: """
      The store itself stays as it is, and programs may save to it meanwhile. In the copy, one commit \
      takes back all later ones, and log shows both. Key-value tables are copied as they are now, and \
      so are values outside of records.

      Of a continuous backup the newest state is restored, or that behind any of its commits. One more \
      commit says that the store goes its own way from there.
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "Where the copy goes; it must not exist, or be empty.", completion: .directory)
  var target: String
  @Option(help: "The last commit that counts.") var commit: UInt64?
  @Option(help: "The moment whose last commit counts, as 2026-11-25T18:30:00Z.") var time: String?
  @OptionGroup var output: OutputOptions

  private struct Report: Encodable {
    var target: String
    var commit: UInt64
  }

  func validate() throws {
    guard commit == nil || time == nil, commit != nil || time != nil || isBackup else {
      throw ValidationError("Give either --commit or --time.")
    }
    if let time, Self.date(time) == nil {
      throw ValidationError("--time is a moment such as 2026-11-25T18:30:00Z.")
    }
  }

  private var isBackup: Bool { ContinuousBackup.isBackup(store.directory) }

  private func restoreBackup() throws -> UInt64 {
    let key = try store.key.key()
    let point: ContinuousBackup.RestorePoint =
      commit.map { .commit($0) } ?? time.flatMap(Self.date).map { .time($0) } ?? .newest
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

  private static func date(_ text: String) -> Date? { try? Date(text, strategy: .iso8601) }

  func run() throws {
    if isBackup {
      let number = try restoreBackup()
      return try output.write(Report(target: target, commit: number)) {
        ["The store as of commit \(number) is in \(target)."]
      }
    }
    let key = try store.key.key()
    let backend = try store.openForReading(key)
    let number = try commit ?? lastCommit(in: backend, until: time.flatMap(Self.date) ?? .now)
    // Before anything is copied: what is not remembered can't be brought back.
    try backend.forEachHistoryEntry(after: number) { _ in .pause }
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

  /// The last commit up to a moment, by the clocks of those who made the commits.
  private func lastCommit(in backend: any StoreBackend, until end: Date) throws -> UInt64 {
    var number = try backend.historyStart() ?? 0
    try backend.forEachHistoryEntry(after: number) { entry in
      if let time = entry.commit.time, time > end { return .pause }
      number = entry.commit.number
      return .next
    }
    return number
  }
}
