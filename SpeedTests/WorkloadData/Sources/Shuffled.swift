/// A generator of numbers in an order that is bad for disks, the same in each run.
public struct Shuffled {
  private var random: UInt64 = 88_172_645_463_325_252

  /// Creates the generator at its start.
  public init() {}

  /// Returns the next number from 0 on.
  public mutating func next(below count: Int) -> Int {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return Int(random % UInt64(count))
  }
}
