#if !COVERAGE
  import ArgumentParser
  import FormatFuzzing
  import Foundation
  import StoredObjectsTestSupport

  /// Reads files that are damaged in random ways: `./dev fuzz`.
  @main
  struct FormatFuzzer: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "fuzz",
      abstract: "Read files of a format that are damaged in random ways.",
      discussion: "Formats: " + fuzzedFormats.map(\.name).joined(separator: ", ") + ".")

    @Argument(help: "The format.") var format: String
    @Option(help: "How many files.") var rounds: UInt64 = 1_000_000
    @Option(help: "The seed, which names the same files again.") var seed: UInt64 = Seeds.current
    @Option(help: "The number of the first round.") var first: UInt64 = 0
    @Option(help: "Write each file here before it is read: a crash leaves the one that did it.")
    var save: String?

    func run() throws {
      guard let format = fuzzedFormats.first(where: { $0.name == format }) else {
        throw ValidationError("There is no format \(format).")
      }
      print("\(format.name): seed \(seed), rounds from \(first) on")
      var run = FuzzRun(format, seed: seed)
      for round in first..<first + rounds {
        // A round that never ends is ended by the signal; `--first` continues from the last number.
        if round % 1000 == 0 { alarm(60) }
        do {
          try run.run(round: round, limit: format.limit) { bytes in
            if let save { try Data(bytes).write(to: URL(fileURLWithPath: save)) }
          }
        } catch {
          print("round \(round), seed \(seed): \(error)")
          throw ExitCode.failure
        }
        if (round + 1) % 100_000 == 0 { print("round \(round + 1)") }
      }
      print(run.summary)
    }
  }
#endif
