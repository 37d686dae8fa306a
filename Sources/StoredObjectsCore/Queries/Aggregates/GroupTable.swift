import StoreEngine

/// The groups found by an aggregation, by the bytes of their values in an index.
///
/// The table holds no values, so that its code is compiled once.
struct GroupTable {
  private var places: [[UInt8]: Int] = [:]
  /// The bytes of each group, in the order in which they were found.
  private(set) var keys: [[UInt8]] = []
  private var counts: [Int] = []
  private var numbers: [AnyNumbers] = []
  /// The bytes of the current group.
  private(set) var last: [UInt8] = []
  /// The place of the current group; nil before the first one.
  private var lastPlace: Int?
  /// The current group.
  ///
  /// It is not in the arrays: most keys belong to the same group as the key before them, and an
  /// access to an element of an array takes longer than adding to it.
  private var lastCount = 0
  private var lastNumbers = AnyNumbers()

  /// Adds objects to the current group.
  @inline(__always)
  mutating func addToLast(count: Int = 1) { lastCount += count }

  /// Adds a number to the current group.
  mutating func addNumberToLast<Sum: SummedNumber>(_ number: Sum) { lastNumbers.add(number) }

  /// Adds a key, if it belongs to the current group.
  ///
  /// The reader is at the value of the group then, which comes after the skipped ones.
  @inline(__always)
  mutating func add(
    _ reader: inout KeyReader, skipping skips: [KeyForm], _ numbers: NumberColumn?
  ) -> KeyOutcome {
    for form in skips where !reader.skip(form) { return .unreadable }
    guard reader.skip(last) else { return .otherGroup }
    return addToLast(&reader, numbers)
  }

  /// Adds a key to the current group, whose value has been read.
  @inline(__always)
  mutating func addToLast(_ reader: inout KeyReader, _ numbers: NumberColumn?) -> KeyOutcome {
    lastCount += 1
    guard let numbers else { return .added }
    return reader.addNumber(numbers, to: &lastNumbers) ? .added : .unreadable
  }

  /// Makes the group of some bytes the current group; returns true if it is new.
  mutating func meet(_ key: [UInt8]) -> Bool {
    putBackLast()
    last = key
    if let place = places[key] {
      (lastPlace, lastCount, lastNumbers) = (place, counts[place], numbers[place])
      return false
    }
    (lastPlace, lastCount, lastNumbers) = (keys.count, 0, AnyNumbers())
    places[key] = keys.count
    keys.append(key)
    counts.append(0)
    numbers.append(AnyNumbers())
    return true
  }

  /// Returns the count of each group, and its numbers.
  func contents() -> (counts: [Int], numbers: [AnyNumbers]) {
    var table = self
    table.putBackLast()
    return (table.counts, table.numbers)
  }

  private mutating func putBackLast() {
    guard let lastPlace else { return }
    (counts[lastPlace], numbers[lastPlace]) = (lastCount, lastNumbers)
  }
}

/// The result of adding a key to the current group.
enum KeyOutcome {
  case added
  /// The key belongs to another group, and was not added.
  case otherGroup
  case unreadable
}
