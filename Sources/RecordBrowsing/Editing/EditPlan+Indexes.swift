import Files
import StoreEngine
import StoredObjectsCore

/// The changes of indexes that an edit needs.
struct IndexChanges {
  /// The indexes that the program has to build again.
  private(set) var cleared: [String] = []
  private let plan: EditPlan
  private let backend: any StoreBackend

  init(_ plan: EditPlan, _ backend: any StoreBackend) {
    (self.plan, self.backend) = (plan, backend)
  }

  /// Adds the changes of the indexes of all changed classes to a change set.
  ///
  /// - Throws: ``BrowsingError`` with `unconfirmed` for values that may have to be unique.
  mutating func add(to set: inout ChangeSet) throws {
    for name in Set(plan.order.map(\.className)).sorted() {
      let known = try plan.state.browsedClass(name)
      let records = try records(of: known)
      for index in try plan.state.indexes(of: known) {
        try add(index, known, records, to: &set)
      }
      try addTexts(known, records, to: &set)
    }
  }

  private typealias Records = [(row: UInt32, old: BrowsedRecord?, new: BrowsedRecord?)]

  /// Returns the changed records of a class by ascending row; one that can't be read is an error.
  private func records(of known: BrowsedClass) throws -> Records {
    try plan.order.filter { $0.className == known.name }.sorted { $0.rowID < $1.rowID }
      .map { address in
        let change = plan.changes[address]
        return (
          address.rowID, try change?.before.map { try known.record(address.rowID, $0) },
          try change?.after.map { try known.record(address.rowID, $0) }
        )
      }
  }

  // MARK: Indexes of properties

  private mutating func add(
    _ index: BrowsedIndex, _ known: BrowsedClass, _ records: Records, to set: inout ChangeSet
  ) throws {
    let table = try backend.orderedTable(
      .init(known.name + IndexNames.byProperties + index.name, kind: .index))
    guard index.isUsable, let changes = changes(index, records) else {
      return try clear(table, "\(known.name) by \(index.name)", &set)
    }
    for change in changes {
      let kept = Set(change.new)
      for values in change.old where !kept.contains(values) {
        set.set(BrowsedIndex.key(values, change.row), to: nil, in: table)
      }
      let had = Set(change.old)
      for values in change.new where !had.contains(values) {
        set.set(BrowsedIndex.key(values, change.row), to: [], in: table)
        try checkIsUnique(values, change.row, index, known, changes)
      }
    }
  }

  private typealias KeyChange = (row: UInt32, old: [[UInt8]], new: [[UInt8]])

  /// Returns the keys before and after; nil if one can't be made.
  private func changes(_ index: BrowsedIndex, _ records: Records) -> [KeyChange]? {
    var changes: [KeyChange] = []
    for (row, old, new) in records {
      var keys: KeyChange = (row, [], [])
      if let old {
        guard let values = index.values(of: old, plan.state) else { return nil }
        keys.old = values
      }
      if let new {
        guard let values = index.values(of: new, plan.state) else { return nil }
        keys.new = values
      }
      changes.append(keys)
    }
    return changes
  }

  private mutating func clear(
    _ table: OrderedTableID, _ title: String, _ set: inout ChangeSet
  ) throws(StoreError) {
    guard try backend.keyCount(in: table, KeyRange()) > 0 else { return }
    set.clear(table)
    cleared.append(title)
  }

  // MARK: Uniqueness

  /// Throws if a value would be the first that two objects have in an index.
  ///
  /// A store does not keep which indexes are unique. One without two equal values may be.
  private func checkIsUnique(
    _ values: [UInt8], _ row: UInt32, _ index: BrowsedIndex, _ known: BrowsedClass,
    _ changes: [KeyChange]
  ) throws {
    guard !index.isMultiple, !plan.confirmations.contains(.duplicate) else { return }
    // Objects with nil are not compared, and those in an index of several properties neither.
    if index.parts.contains(where: { if case .optional = $0.type { true } else { false } }),
      values.first == 0
    {
      return
    }
    let rewritten = Set(changes.map(\.row))
    var other = changes.first { $0.row != row && $0.new.contains(values) }?.row
    _ = try backend.scanKeys(
      of: backend.orderedTable(
        .init(known.name + IndexNames.byProperties + index.name, kind: .index)),
      .prefix([BrowsedIndex.mark] + values), isReversed: false
    ) { key, _ in
      let key = [UInt8](copying: key)
      let found = BrowsedIndex.row(key)
      let isSame = BrowsedIndex.values(key).elementsEqual(values)
      if isSame, !rewritten.contains(found) { other = found }
      return other == nil ? .next : .pause
    }
    guard let other, try hasOnlyDifferentValues(index) else { return }
    throw BrowsingError.unconfirmed(
      .duplicate,
      """
      \(known.name)/\(other) has the same value in the index "\(index.name)", and no two objects \
      have the same one so far. If the program declares it unique, it will refuse to save them.
      """)
  }

  private func hasOnlyDifferentValues(_ index: BrowsedIndex) throws(StoreError) -> Bool {
    var last: [UInt8] = []
    var count = 0
    let isWhole = try plan.state.backend.scanKeys(
      of: index.table, .prefix([BrowsedIndex.mark]), isReversed: false
    ) { key, _ in
      let values = Array(BrowsedIndex.values([UInt8](copying: key)))
      if count > 0, values == last { return .pause }
      (last, count) = (values, count + 1)
      return .next
    }
    return isWhole && count > 1
  }

  // MARK: Full-text indexes

  private mutating func addTexts(
    _ known: BrowsedClass, _ records: Records, to set: inout ChangeSet
  ) throws {
    let state = plan.state
    let table = try backend.orderedTable(.init(known.name + IndexNames.fullText, kind: .index))
    guard try backend.keyCount(in: table, KeyRange()) > 0 else { return }
    guard let index = try RecordTextIndex(of: known.name, in: backend),
      try index.objectCount() == known.objectCount, try agrees(index, known, records)
    else { return try clear(table, "texts of \(known.name)", &set) }
    let changes = records.map { row, old, new in
      (
        row: row, old: old.map { texts(of: $0, index, state) },
        new: new.map { texts(of: $0, index, state) }
      )
    }
    if changes.allSatisfy({ $0.old == $0.new }) { return }
    try index.addChanges(changes, to: &set)
  }

  private func texts(
    of record: BrowsedRecord, _ index: RecordTextIndex, _ state: BrowsedState
  ) -> [String] { index.attributes.map { state.text(of: record, $0) ?? "" } }

  /// Whether the texts in an index are those of the properties with the names of its attributes.
  private func agrees(
    _ index: RecordTextIndex, _ known: BrowsedClass, _ records: Records
  ) throws -> Bool {
    let state = plan.state
    guard index.attributes.allSatisfy({ known.property($0)?.type.isText == true }) else {
      return false
    }
    for case (let row, let old?, _) in records
    where try !index.agrees(row, texts(of: old, index, state)) { return false }
    for (row, bytes) in try state.records(
      of: known, .after(0), limit: 16, maximumLookUps: BrowsedState.batchRows
    ).rows {
      guard let record = try? known.record(row, bytes) else { continue }
      if try !index.agrees(row, texts(of: record, index, state)) { return false }
    }
    return true
  }
}
