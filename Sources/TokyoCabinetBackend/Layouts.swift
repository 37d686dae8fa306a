/// The number of buckets of a class file.
enum Layouts {
  /// The number of buckets that the library's hash of row IDs reaches at most, see `Tuning`.
  static let greatestBucketCount = 393_209
  /// The number of buckets of a small class: 4 KiB of its file, which each checkpoint writes.
  static let leastBucketCount = 1_021

  /// Returns a bucket count for a number of records: a prime, so that all bits of the hash count.
  ///
  /// There is a bucket for each record; a class can grow to four times as many before its file gets
  /// a new layout.
  static func bucketCount(for recordCount: Int) -> Int {
    var count = min(max(recordCount, leastBucketCount) | 1, greatestBucketCount)
    while !isPrime(count) { count += 2 }
    return count
  }

  /// Whether a file has too many records for its buckets, and needs a new layout.
  static func isOutgrown(recordCount: Int, bucketCount: Int) -> Bool {
    bucketCount < greatestBucketCount && recordCount > 4 * bucketCount
  }

  private static func isPrime(_ number: Int) -> Bool {
    var divisor = 3
    while divisor * divisor <= number {
      if number % divisor == 0 { return false }
      divisor += 2
    }
    return true
  }
}
