import ArgumentParser
import Foundation
import StoredObjectsCore

/// Damages every byte and every length of every file of a small store: the data read must be right,
/// or the damage reported.
///
/// For an encrypted store that was closed, every change must be reported, even of an unused byte.
struct FlipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flip",
    abstract: "Damage each byte of a small store, truncate each file at each length, remove each.")

  @Option(help: "The backend.") var backend = BackendName.tokyoCabinet
  @Option(help: "Run only each Nth trial, and the last one of each file.")
  var every = 1
  @Flag(help: "Print what each file's trials came to.") var verbose = false

  func validate() throws {
    if every < 1 { throw ValidationError("--every must be 1 or more.") }
  }

  func run() throws {
    var counts = FlipCounts()
    try withTemporaryDirectory { directory in
      // A store that was closed with saves in its log differs from a killed one only in the changes
      // that must be reported.
      let states = SmallStore.State.allCases.filter { backend.isEncrypted || $0 != .unfolded }
      for state in states {
        let path = directory.appendingPathComponent(state.rawValue).path
        let store = SmallStore(directory: path, backend: backend)
        try store.make(state)
        let isStrict = backend.isEncrypted && state != .killed
        for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
          let before = counts
          try FlipTrials(store: store, name: name, every: every, isStrict: isStrict).run(&counts)
          if verbose { note("\(state) \(name): \(counts.since(before))") }
        }
      }
    }
    print(
      "rounds=\(counts.rounds) lost=\(counts.crashed) torn=\(counts.torn)"
        + " undetected=\(counts.wrong + counts.untold)")
    if counts.crashed + counts.torn + counts.wrong + counts.untold > 0 { throw ExitCode.failure }
  }
}

/// The counts of the results of trials.
struct FlipCounts: CustomStringConvertible {
  var rounds = 0
  var harmless = 0
  var reported = 0
  /// Other data than the original was read, without a report.
  var wrong = 0
  /// An unused byte was changed without a report, in a store in which every change must be
  /// reported.
  var untold = 0
  /// The next save has destroyed earlier data.
  var torn = 0
  /// The process crashed or hung.
  var crashed = 0

  var description: String {
    "\(rounds) trials, \(harmless) harmless, \(reported) reported, \(wrong) wrong,"
      + " \(untold) untold, \(torn) torn, \(crashed) crashed"
  }

  func since(_ old: FlipCounts) -> FlipCounts {
    FlipCounts(
      rounds: rounds - old.rounds, harmless: harmless - old.harmless,
      reported: reported - old.reported, wrong: wrong - old.wrong, untold: untold - old.untold,
      torn: torn - old.torn,
      crashed: crashed - old.crashed)
  }
}

/// The result of one trial, as sent by the child.
enum FlipVerdict: Int64 {
  case harmless, reported, wrong, torn, untold
}

/// The trials of one file, in a child process that may crash.
struct FlipTrials {
  let store: SmallStore
  let name: String
  /// The stride of the trials that are run.
  let every: Int
  /// Whether every change must be reported.
  let isStrict: Bool

  /// A child with its remaining trials.
  private struct Share {
    var child: ChildProcess
    var trials: ArraySlice<Int>
  }

  /// Runs all trials, in two children at a time.
  func run(_ counts: inout FlipCounts) throws {
    let size = try Data(contentsOf: URL(fileURLWithPath: "\(store.directory)/\(name)")).count
    let end = FlipProbe.trialCount(size: size)
    let trials = Array(stride(from: (end - 1) % every, to: end, by: every))
    let middle = trials.count / 2
    var shares = try [trials[..<middle], trials[middle...]].map { trials in
      Share(child: try start(trials), trials: trials)
    }
    while !shares.allSatisfy(\.trials.isEmpty) {
      for index in shares.indices where !shares[index].trials.isEmpty {
        try step(&shares[index], size, &counts)
      }
    }
  }

  private func start(_ trials: ArraySlice<Int>) throws -> ChildProcess {
    let (first, end) = (trials.first ?? 0, trials.last.map { $0 + 1 } ?? 0)
    let range = ["--first", "\(first)", "--end", "\(end)", "--every", "\(every)"]
    return try ChildProcess(
      ["probe", store.directory, name, "--backend", store.backend.rawValue] + range
        + (isStrict ? ["--strict"] : []))
  }

  /// Receives the next verdict of a child.
  ///
  /// A child that has ended or hangs is replaced after that trial.
  private func step(_ share: inout Share, _ size: Int, _ counts: inout FlipCounts) throws {
    let trial = share.trials.removeFirst()
    if let number = share.child.next(timeout: 20) {
      return take(FlipVerdict(rawValue: number), trial, size, &counts)
    }
    counts.rounds += 1
    counts.crashed += 1
    tell("ended with status \(share.child.kill())", trial, size)
    if !share.trials.isEmpty { share.child = try start(share.trials) }
  }

  private func take(
    _ verdict: FlipVerdict?, _ trial: Int, _ size: Int, _ counts: inout FlipCounts
  ) {
    counts.rounds += 1
    switch verdict {
    case .harmless: counts.harmless += 1
    case .reported: counts.reported += 1
    case .torn:
      counts.torn += 1
      tell("spoilt by the next save", trial, size)
    case .untold:
      counts.untold += 1
      tell("no report", trial, size)
    case .wrong, nil:
      counts.wrong += 1
      tell("wrong answer", trial, size)
    }
  }

  private func tell(_ what: String, _ trial: Int, _ size: Int) {
    note("\(store.directory) \(name), \(FlipProbe.description(trial, size: size)): \(what)")
  }
}
