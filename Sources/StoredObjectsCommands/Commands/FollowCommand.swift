import ArgumentParser
import Foundation
import StoredObjectsCore

struct FollowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow",
    abstract: "Keep a copy of a store up to date, commit by commit.",
    discussion: """
      The store must keep a history: see history --begin. The first run copies the store. Later \
      runs continue where the last one ended, also after a kill or a power cut. Meanwhile programs \
      can save to the store and read the copy. They can save to the copy after promote only. The \
      command runs until SIGTERM or Control-C, or with --once until the copy has all commits.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup var copy: FollowerArgument
  @Flag(help: "End when the copy has all commits of the store.") var once = false
  @OptionGroup var output: OutputOptions

  func run() throws {
    let stop = StopSignal()
    let source = try PolledStore(store)
    if !copy.exists { try makeCopy(source) }
    let target = try copy.open(store.key.key())
    var follower = try StoreFollower(target, source: store.directory)
    var reporter = LagReporter(output.json)
    repeat {
      let count = try source.read { try follower.catchUp(with: $0) }
      if !once, count > 0 { reporter.report(target) }
    } while !once && source.waitForNews(stop)
    let report = FollowerReport(target: copy.target, commit: target.lastCommitNumber)
    try target.close()
    if once || !output.json {
      try output.write(report) {
        ["The copy in \(report.target) has all commits up to \(report.commit)."]
      }
    }
  }

  private func makeCopy(_ source: PolledStore) throws {
    let line = ProgressLine("copy")
    defer { line.end() }
    try source.read { try $0.makeFollower(in: copy.target) { line.show($0) } }
  }
}

/// Prints the lag of a copy, at most once a second.
private struct LagReporter {
  private let isJSON: Bool
  private var last: ContinuousClock.Instant?

  init(_ isJSON: Bool) { self.isJSON = isJSON }

  mutating func report(_ target: any StoreBackend) {
    if let last, last.duration(to: .now) < .seconds(1) { return }
    last = .now
    guard let commit = target.coordinator.journal.last else { return }
    let lag = commit.time.map { max(0, Int(Date.now.timeIntervalSince($0) * 1000)) }
    let line =
      isJSON
      ? #"{"commit":\#(commit.number),"lagMilliseconds":\#(lag.map(String.init) ?? "null")}"#
      : "commit \(commit.number)" + (lag.map { ", \($0) ms behind" } ?? "")
    // A copy goes on when nobody reads what it reports.
    try? StandardOutput.write([line])
  }
}
