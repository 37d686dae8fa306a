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
    /// A row that has the values of one before it, by a unique index, and how many there are.
    var duplicate: (row: UInt32, other: UInt32)?
    var duplicateCount = 0
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
      if indexes[number].index.declaration.isUnique { compareUnique(object, number) }
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

  /// Looks for another row with the values of an object.
  private mutating func compareUnique(_ object: StoredObject, _ number: Int) {
    let index = indexes[number].index
    guard let key = index.uniqueKey(of: object) else { return }
    var first: UInt32?
    try? index.forEachRow(key, backend) { row in
      first = row
      return false
    }
    guard let first, first < object.rowID else { return }
    indexes[number].duplicateCount += 1
    if indexes[number].duplicate == nil { indexes[number].duplicate = (object.rowID, first) }
  }

  /// Compares the numbers of keys.
  mutating func finish() {
    for compared in indexes {
      if let (row, other) = compared.duplicate {
        let error = compared.index.notUnique(entry, row, other)
        let more = compared.duplicateCount - 1
        let rest = more == 0 ? "" : " So it is with \(more) more."
        findings.append(StoreFinding(.duplicate, error.message + rest, at: error.place))
      }
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
