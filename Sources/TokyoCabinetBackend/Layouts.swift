/// How many buckets a class file gets.
enum Layouts {
  /// The library's hash of row IDs reaches no more buckets than this, see `Tuning`.
  static let greatestBucketCount = 393_209
  /// A small class has this many: 4 KiB of its file, which each checkpoint writes.
  static let leastBucketCount = 1_021

  /// A bucket count for a number of records: a prime, so that all bits of the hash count.
  ///
  /// There is a bucket for each record; a class can have four times as many before its file is laid
  /// out anew.
  static func bucketCount(for recordCount: Int) -> Int {
    var count = min(max(recordCount, leastBucketCount) | 1, greatestBucketCount)
    while !isPrime(count) { count += 2 }
    return count
  }

  /// Whether a file has so many records for its buckets that a new layout is due.
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
