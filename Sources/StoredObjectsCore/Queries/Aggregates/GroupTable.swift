import StoreEngine

/// The groups found by an aggregation, by the bytes of their values in an index.
///
/// The table holds no values, so that its code is compiled once.
struct GroupTable {
  private var places: [[UInt8]: Int] = [:]
  /// The bytes of each group, in the order in which they were found.
  private(set) var keys: [[UInt8]] = []
  private(set) var counts: [Int] = []
  private(set) var numbers: [AnyNumbers] = []
  /// The bytes of the current group.
  private(set) var last: [UInt8] = []
  private var lastPlace = 0

  /// Adds objects to the current group.
  mutating func addToLast(count: Int = 1) { counts[lastPlace] += count }

  /// Adds a number to the current group.
  mutating func addNumberToLast<Sum: SummedNumber>(_ number: Sum) { numbers[lastPlace].add(number) }

  /// Adds the number in a key to the current group; returns false if the key can't be read.
  mutating func addNumberToLast(_ reader: inout KeyReader, _ column: NumberColumn) -> Bool {
    reader.addNumber(column, to: &numbers[lastPlace])
  }

  /// Makes the group of some bytes the current group; returns true if it is new.
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
