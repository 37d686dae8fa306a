import StoredObjectsTestSupport

/// A run that reads many damaged files, one after another.
package struct FuzzRun {
  private let format: any FuzzedFormat
  private let seed: UInt64
  /// The number of files that were read.
  package private(set) var count = 0
  /// The number of files that were considered sound.
  package private(set) var soundCount = 0
  /// The time of the slowest file.
  package private(set) var slowest = Duration.zero

  package init(_ format: any FuzzedFormat, seed: UInt64) {
    self.format = format
    self.seed = seed
  }

  /// Damages and reads a file.
  ///
  /// A round is the same whenever it is run with the same seed.
  ///
  /// - Parameters:
  ///   - round: The number of the round.
  ///   - limit: The maximum time.
  ///   - before: Called with the file before it is read.
  /// - Throws: ``FuzzFailure``, or an error of `before`.
  package mutating func run(
    round: UInt64, limit: Duration, before: ([UInt8]) throws -> Void = { _ in }
  ) throws {
    var random = SeededGenerator(seed: seed ^ (round &* 0x9E37_79B9_7F4A_7C15))
    let file = try format.makeFile(&random)
    var mutation = ByteMutation(file, fields: format.fields(of: file))
    mutation.mutate(&random)
    try before(mutation.bytes)
    var isSound = false
    let duration = try ContinuousClock().measure {
      isSound = try format.read(mutation.bytes, &random)
    }
    count += 1
    if isSound { soundCount += 1 }
    slowest = max(slowest, duration)
    if duration > limit { throw FuzzFailure("round \(round) took \(duration)") }
  }

  /// A summary of the run in one line.
  package var summary: String {
    let milliseconds = Int(slowest / .milliseconds(1))
    return """
      \(format.name): \(count) damaged files read, seed \(seed): \(soundCount) taken for sound, \
      \(count - soundCount) refused, slowest \(milliseconds) ms
      """
  }
}
