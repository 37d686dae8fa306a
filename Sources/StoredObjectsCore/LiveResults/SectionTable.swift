/// The sections of sorted rows: where each begins, and what its rows have in common.
struct SectionTable {
  /// The values of the sections, in order.
  private(set) var values: [Any] = []
  /// What the sort keys of the rows of each section begin with.
  private var keys: [[UInt8]] = []
  private var counts: [Int] = []
  /// The index of the first row of each section; as many as are known.
  private var starts: [Int] = []

  var count: Int { keys.count }

  func count(of section: Int) -> Int { counts[section] }

  /// The index of the first row of a section.
  func start(of section: Int) -> Int { starts[section] }

  /// What the sort keys of a section's rows begin with.
  func key(of section: Int) -> [UInt8] { keys[section] }

  /// The section of the row at an index.
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

  /// Finds out where the sections begin, before they are asked for by index.
  mutating func prepareStarts() {
    while starts.count < keys.count {
      let last = starts.count - 1
      starts.append(last < 0 ? 0 : starts[last] + counts[last])
    }
  }

  private mutating func forgetStarts(from section: Int) {
    if starts.count > section { starts.removeSubrange(section...) }
  }

  /// The first section whose key is not before another.
  private func place(of key: some Collection<UInt8>) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The place of a section with a key, or nil.
  func section(withKey key: [UInt8]) -> Int? {
    let place = place(of: key)
    return place < keys.count && keys[place] == key ? place : nil
  }

  /// Counts a row in.
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

  /// Counts a row out, by its whole sort key.
  ///
  /// - Returns: The key of the section, if that was its last row.
  mutating func remove(_ rowKey: [UInt8]) -> [UInt8]? {
    // No section's key begins that of another, so the last one that is not behind is it.
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
