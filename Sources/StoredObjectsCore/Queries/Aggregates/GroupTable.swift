import StoreEngine

/// The groups that an aggregation has met, by the bytes of their values in an index.
///
/// It knows no values, so that it is compiled once.
struct GroupTable {
  private var places: [[UInt8]: Int] = [:]
  /// The bytes of each group, in the order in which they were met.
  private(set) var keys: [[UInt8]] = []
  private(set) var counts: [Int] = []
  private(set) var numbers: [AnyNumbers] = []
  /// The bytes of the group that was met last.
  private(set) var last: [UInt8] = []
  private var lastPlace = 0

  /// Adds objects to the group that was met last.
  mutating func addToLast(count: Int = 1) { counts[lastPlace] += count }

  /// Adds a number to the group that was met last.
  mutating func addNumberToLast<Sum: SummedNumber>(_ number: Sum) { numbers[lastPlace].add(number) }

  /// Adds the number in a key to the group that was met last; false if the key can't be read.
  mutating func addNumberToLast(_ reader: inout KeyReader, _ column: NumberColumn) -> Bool {
    reader.addNumber(column, to: &numbers[lastPlace])
  }

  /// Makes the group of some bytes the last one; true if it is new.
  mutating func meet(_ key: [UInt8]) -> Bool {
    last = key
    if let place = places[key] {
      lastPlace = place
      return false
    }
    lastPlace = keys.count
    places[key] = lastPlace
    keys.append(key)
    counts.append(0)
    numbers.append(AnyNumbers())
    return true
  }
}
