/// The sections of sorted rows: their starts, and what their rows have in common.
struct SectionTable {
  /// The values of the sections, in order.
  private(set) var values: [Any] = []
  /// The common prefix of the sort keys of each section's rows.
  private var keys: [[UInt8]] = []
  private var counts: [Int] = []
  /// The index of the first row of each section, as far as known.
  private var starts: [Int] = []

  var count: Int { keys.count }

  func count(of section: Int) -> Int { counts[section] }

  /// Returns the index of the first row of a section.
  func start(of section: Int) -> Int { starts[section] }

  /// Returns the common prefix of the sort keys of a section's rows.
  func key(of section: Int) -> [UInt8] { keys[section] }

  /// Returns the section of the row at an index.
  ///
  /// Complexity: O(log n) in the number of sections, once the starts are known.
  func section(of index: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// Determines the starts of sections, before they are accessed by index.
  mutating func prepareStarts() {
    while starts.count < keys.count {
      let last = starts.count - 1
      starts.append(last < 0 ? 0 : starts[last] + counts[last])
    }
  }

  private mutating func forgetStarts(from section: Int) {
    if starts.count > section { starts.removeSubrange(section...) }
  }

  /// Returns the first section whose key is not before a key.
  private func place(of key: some Collection<UInt8>) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the index of the section with a key, or nil.
  func section(withKey key: [UInt8]) -> Int? {
    let place = place(of: key)
    return place < keys.count && keys[place] == key ? place : nil
  }

  /// Adds a row to its section.
  ///
  /// - Returns: Whether the section is new.
  mutating func add(_ key: some Collection<UInt8>, _ value: Any) -> Bool {
    let place = place(of: key)
    defer { forgetStarts(from: place + 1) }
    if place < keys.count, keys[place].elementsEqual(key) {
      counts[place] += 1
      return false
    }
    keys.insert(Array(key), at: place)
    counts.insert(1, at: place)
    values.insert(value, at: place)
    forgetStarts(from: place)
    return true
  }

  /// Removes a row from its section, by its whole sort key.
  ///
  /// - Returns: The key of the section, if that was its last row.
  mutating func remove(_ rowKey: [UInt8]) -> [UInt8]? {
    // No section's key is a prefix of another, so it is the last section that is not behind the
    // key.
    var section = place(of: rowKey)
    if section == keys.count || !rowKey.starts(with: keys[section]) { section -= 1 }
    counts[section] -= 1
    forgetStarts(from: section + 1)
    guard counts[section] == 0 else { return nil }
    counts.remove(at: section)
    values.remove(at: section)
    forgetStarts(from: section)
    return keys.remove(at: section)
  }
}
