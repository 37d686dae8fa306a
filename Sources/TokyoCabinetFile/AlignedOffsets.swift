/// Ascending, aligned offsets in a file, in four bytes each.
struct AlignedOffsets {
  private let power: Int
  /// The offsets divided by the alignment, without the bits beyond 32.
  private var low: [UInt32] = []
  /// The indices at which the part beyond 32 bits grows by one.
  private var carries: [Int] = []
  private var last = 0

  init(alignmentPower: UInt8) { power = Int(alignmentPower) }

  var count: Int { low.count }

  mutating func reserveCapacity(_ count: Int) { low.reserveCapacity(count) }

  /// Appends an offset, at least the last one and less than 4 GiB times the alignment more.
  @inline(__always)
  mutating func append(_ offset: Int) {
    let number = offset >> power
    assert(number << power == offset, "an offset that is not aligned")
    assert(count == 0 || offset >= self[count - 1], "offsets go back")
    if number >> 32 != last { carry(number >> 32) }
    low.append(UInt32(truncatingIfNeeded: number))
  }

  private mutating func carry(_ high: Int) {
    for _ in last..<high { carries.append(low.count) }
    last = high
  }

  @inline(__always)
  subscript(index: Int) -> Int { units(index) << power }

  /// Returns an offset divided by the alignment.
  @inline(__always)
  func units(_ index: Int) -> Int {
    carries.isEmpty ? Int(low[index]) : largeUnits(index)
  }

  private func largeUnits(_ index: Int) -> Int {
    Int(low[index]) | carries.count { $0 <= index } << 32
  }
}
