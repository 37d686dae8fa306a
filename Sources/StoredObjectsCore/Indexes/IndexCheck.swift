import Files

/// Compares the indexes of a class with its objects.
struct IndexCheck {
  private let backend: any StoreBackend
  private let entry: RegisteredClass
  private var indexes: [Compared] = []
  private(set) var findings: [StoreFinding] = []

  private struct Compared {
    let index: RegisteredIndex
    /// How many keys the objects so far should have.
    var expectedCount = 0
    var missingCount = 0
  }

  /// Takes the indexes that are whole; others are made anew before they are used.
  init(_ backend: any StoreBackend, _ entry: RegisteredClass) {
    (self.backend, self.entry) = (backend, entry)
    for index in entry.indexes {
      if let isReady = try? index.isReady(backend), isReady { indexes.append(.init(index: index)) }
    }
  }

  /// Looks up the keys of an object.
  mutating func compare(_ object: StoredObject) {
    for number in indexes.indices {
      for key in indexes[number].index.keys(of: object) {
        indexes[number].expectedCount += 1
        let found = try? backend.withValue(of: key, in: indexes[number].index.table) { _ in true }
        if found == true { continue }
        indexes[number].missingCount += 1
        // One is enough to know; the count says how many there are.
        if indexes[number].missingCount == 1 {
          add("Row \(object.rowID) is missing in", indexes[number].index, row: object.rowID)
        }
      }
    }
  }

  /// Compares the numbers of keys.
  mutating func finish() {
    for compared in indexes {
      let count = try? backend.keyCount(
        in: compared.index.table, .prefix([RegisteredIndex.mark]))
      if count == compared.expectedCount, compared.missingCount == 0 { continue }
      add(
        """
        \(count.map { "\($0)" } ?? "Unreadable") keys instead of \(compared.expectedCount) are in
        """, compared.index, row: nil)
    }
  }

  private mutating func add(_ what: String, _ index: RegisteredIndex, row: UInt32?) {
    findings.append(
      StoreFinding(
        .index,
        "\(what) the index \"\(index.declaration.name)\". Call rebuildIndexes(of:) to make it anew.",
        at: entry.place(row)))
  }
}
