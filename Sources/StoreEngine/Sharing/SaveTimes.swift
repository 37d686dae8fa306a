/// The number of saves to a store, by the time that they took.
///
/// A time begins when a save is encoded and has its turn, and ends when it is durable, or in the
/// system for ``Durability/process``.
package struct SaveTimes: Sendable, Equatable {
  /// Two for each doubling of the time, from one microsecond to more than twelve seconds.
  static let bucketCount = 48

  private var counts: [UInt64]

  /// Creates the times of no saves.
  package init() { counts = Array(repeating: 0, count: Self.bucketCount) }

  /// Creates the times of the saves in each bucket.
  init(counts: ArraySlice<UInt64>) { self.counts = Array(counts.prefix(Self.bucketCount)) }

  /// The number of saves.
  package var count: UInt64 { counts.reduce(0, &+) }

  /// Returns the times of the saves after an earlier look.
  package func since(_ earlier: SaveTimes) -> SaveTimes {
    // The processes have ended meanwhile, and others have begun again.
    guard zip(counts, earlier.counts).allSatisfy({ $0 >= $1 }) else { return self }
    var new = self
    for index in counts.indices { new.counts[index] -= earlier.counts[index] }
    return new
  }

  /// Returns a time that a share of the saves have not exceeded.
  ///
  /// - Parameter share: The share, from 0 to 1: 0.5 for the median.
  /// - Returns: At most 1.42 times the real time and two microseconds, and never less; nil if there
  ///   are no saves.
  package func time(ofShare share: Double) -> Duration? {
    let all = count
    guard all > 0 else { return nil }
    let wanted = max(1, (Double(all) * share).rounded(.up))
    var (sum, bucket) = (0.0, 0)
    while true {
      sum += Double(counts[bucket])
      if sum >= wanted || bucket == Self.bucketCount - 1 { return Self.end(ofBucket: bucket) }
      bucket += 1
    }
  }

  /// Returns the time of a share in milliseconds, to the microsecond, for people to read.
  package func milliseconds(ofShare share: Double) -> Double? {
    time(ofShare: share).map { ($0 / .microseconds(1)).rounded() / 1000 }
  }

  // MARK: Buckets

  mutating func add(_ duration: Duration) { counts[Self.bucket(of: duration)] += 1 }

  /// Returns the bucket of a time.
  static func bucket(of duration: Duration) -> Int {
    // In 64 bits, because each save takes this way.
    guard let attoseconds = UInt64(exactly: max(duration.attoseconds, 1)) else {
      return bucketCount - 1
    }
    // Rounded up, so that no time is above the end of its bucket.
    let microseconds = (attoseconds - 1) / 1_000_000_000_000 + 1
    let octave = UInt64.bitWidth - 1 - microseconds.leadingZeroBitCount
    let isUpperHalf = microseconds * microseconds >= 2 << UInt64(2 * octave)
    return min(bucketCount - 1, 2 * octave + (isUpperHalf ? 1 : 0))
  }

  /// Returns the time that all in a bucket are below.
  private static func end(ofBucket bucket: Int) -> Duration {
    let octave = Double(1 << (bucket / 2))
    return .microseconds(octave * (bucket % 2 == 0 ? 2.0.squareRoot() : 2))
  }
}
