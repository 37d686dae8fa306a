import Foundation

/// A generator of numbers in which small ones are frequent, as in the Yahoo! Cloud Serving
/// Benchmark.
///
/// The method is that of Gray and others, "Quickly generating billion-record synthetic databases",
/// with a skew of 0.99. Rivals in C generate the same numbers.
public struct Zipfian {
  private static let skew = 0.99
  private static let second = pow(0.5, skew)

  private var count: Double
  /// The sum of 1 / number^skew over all numbers from 1 to the count.
  private var sum: Double

  /// Creates a generator of numbers below a count.
  public init(below count: Int) {
    (self.count, sum) = (0, 0)
    for _ in 0..<count { grow() }
  }

  /// Creates a generator of numbers below ten billion, for which the sum would take long.
  public init() { (count, sum) = (1e10, 26.469_028_201_783_02) }

  /// Extends the range by one number.
  public mutating func grow() {
    count += 1
    sum += 1 / pow(count, Self.skew)
  }

  /// Returns the next number: 0 is the most frequent one, then 1, and so on.
  public func next(_ random: inout Shuffled) -> UInt64 {
    let share = Double(random.next(below: 1 << 53)) / Double(1 << 53)
    let place = share * sum
    if place < 1 { return 0 }
    if place < 1 + Self.second { return 1 }
    let eta = (1 - pow(2 / count, 1 - Self.skew)) / (1 - (1 + Self.second) / sum)
    return UInt64(count * pow(eta * share - eta + 1, 1 / (1 - Self.skew)))
  }

  /// Returns a hash of a number, which scatters frequent numbers, so that keys have no order.
  public static func scattered(_ number: UInt64) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in 0..<8 as Range<UInt64> {
      hash ^= number >> (8 * byte) & 0xFF
      hash &*= 0x100_0000_01B3
    }
    return hash
  }
}
