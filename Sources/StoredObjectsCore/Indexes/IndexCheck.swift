import Files
import StoreEngine

/// Compares the indexes of a class with its objects.
struct IndexCheck {
  private let backend: any StoreBackend
  private let entry: RegisteredClass
  private var indexes: [Compared] = []
  /// Unique indexes that have not been built, with the keys they would have.
  private var unbuilt: [(index: RegisteredIndex, duplicates: DuplicateSearch)] = []
  private(set) var findings: [StoreFinding] = []

  private struct Compared {
    let index: RegisteredIndex
    /// The number of keys that the objects compared so far should have.
    var expectedCount = 0
    var missingCount = 0
    /// A row that has the values of an earlier row in a unique index.
    var duplicate: (row: UInt32, other: UInt32)?
    var duplicateCount = 0
  }

  /// Creates a check of the indexes of a class.
  ///
  /// Incomplete indexes are built before they are used, so only their uniqueness is checked.
  init(_ backend: any StoreBackend, _ entry: RegisteredClass) {
    (self.backend, self.entry) = (backend, entry)
    for index in entry.indexes {
      if let isReady = try? index.isReady(backend), isReady {
        indexes.append(.init(index: index))
      } else if index.declaration.isUnique {
        unbuilt.append((index, DuplicateSearch()))
      }
    }
  }

  /// Compares the keys of an object with the indexes.
  mutating func compare(_ object: StoredObject) {
    for number in unbuilt.indices {
      guard let key = unbuilt[number].index.uniqueKey(of: object) else { continue }
      unbuilt[number].duplicates.add(key, row: object.rowID)
    }
    for number in indexes.indices {
      if indexes[number].index.declaration.isUnique { compareUnique(object, number) }
      for key in indexes[number].index.keys(of: object) {
        indexes[number].expectedCount += 1
        let found = try? backend.withValue(of: key, in: indexes[number].index.table) { _ in true }
        if found == true { continue }
        indexes[number].missingCount += 1
        // One row is enough here; the finding about the counts shows how many are missing.
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

  /// Adds a finding for rows that have the values of others.
  private mutating func addDuplicates(
    _ index: RegisteredIndex, _ row: UInt32, _ other: UInt32, count: Int
  ) {
    let error = index.notUnique(entry, row, other)
    let rest = count == 1 ? "" : " The same is true of \(count - 1) more."
    findings.append(StoreFinding(.duplicate, error.message + rest, at: error.location))
  }

  /// Compares the numbers of keys, and adds the remaining findings.
  mutating func finish() {
    for (index, duplicates) in unbuilt {
      let found = duplicates.first { row in
        let object = try? entry.store?.savedObject(row, entry)
        return object.flatMap { index.uniqueKey(of: $0) }
      }
      if let found { addDuplicates(index, found.row, found.other, count: found.count) }
    }
    for compared in indexes {
      if let (row, other) = compared.duplicate {
        addDuplicates(compared.index, row, other, count: compared.duplicateCount)
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
        "\(what) the index \"\(index.declaration.name)\". Call rebuildIndexes(of:) to rebuild it.",
        at: entry.location(row)))
  }
}
