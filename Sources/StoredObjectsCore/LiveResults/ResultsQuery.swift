import StoreEngine

/// A live query whose result is an ordered list.
final class ResultsQuery: LiveQuery {
  private(set) var table = RowTable()
  /// Nil without sections.
  private(set) var sections: SectionTable?
  private var listeners: [WeakListener] = []

  private struct WeakListener { weak var queue: ResultsQueue? }

  override init(_ source: LiveSource) throws(StoreError) {
    if source.hasSections { sections = SectionTable() }
    try super.init(source)
    let placements = try load().sorted { $0.1.rank < $1.1.rank }
    table = RowTable(sorted: placements.map(\.1.rank))
    for (_, placement) in placements { addToSection(placement) }
    sections?.prepareStarts()
  }

  override var rows: [ObjectKey] { table.ties.map(source.key(of:)) }

  func add(_ queue: ResultsQueue) {
    listeners.removeAll { $0.queue == nil }
    listeners.append(WeakListener(queue: queue))
  }

  // MARK: Places

  /// Returns the place of a row, or nil.
  func place(of key: ObjectKey) -> ResultPlace? {
    table.index(of: source.tie(of: key)).map(place(at:))
  }

  /// Returns the place of the row at an index.
  func place(at index: Int) -> ResultPlace {
    guard let sections else { return ResultPlace(index: index, section: 0, item: index) }
    let section = sections.section(of: index)
    return ResultPlace(
      index: index, section: section, item: index - sections.start(of: section))
  }

  // MARK: Changing

  override func differs(_ key: ObjectKey, _ placement: Placement?) -> Bool {
    placement != nil || table.contains(source.tie(of: key))
  }

  override func apply(_ placements: [ObjectKey: Placement?]) {
    var batch = RowBatch()
    for (key, placement) in placements {
      let tie = source.tie(of: key)
      let old = table.rank(of: tie)
      guard old != nil || placement != nil else { continue }
      if let old, let placement, old == placement.rank {
        if !isReloading { batch.kept.append((key, placement)) }
      } else {
        let place = table.index(of: tie).map(place(at:))
        batch.changed.append(RowBatch.Row(key: key, old: old, oldPlace: place, new: placement))
      }
    }
    if !batch.isEmpty { reportChange { change(batch) } }
  }

  private func change(_ batch: RowBatch) {
    var change = RowsChange()
    // The keys of the sections, and their places before the change.
    var goneSections: [[UInt8]: Int] = [:]
    var newSections: [[UInt8]] = []
    for row in batch.changed {
      guard let old = row.old else { continue }
      table.remove(old.tie)
      if let key = sections?.remove(old.key) { goneSections[key] = row.oldPlace?.section }
    }
    for row in batch.changed {
      guard let new = row.new else { continue }
      table.insert(new.rank)
      if let key = addToSection(new) { newSections.append(key) }
    }
    table.prepareIndices()
    sections?.prepareStarts()
    note(batch, in: &change)
    // A section that is removed and inserted again in the same batch is neither.
    change.removedSections = goneSections.filter { sections?.section(withKey: $0.key) == nil }
      .map(\.value).sorted()
    change.insertedSections = newSections.filter { goneSections[$0] == nil }
      .compactMap { sections?.section(withKey: $0) }.sorted()
    change.count = table.count
    for listener in listeners { listener.queue?.add(change) }
  }

  /// Adds a row to its section.
  ///
  /// - Returns: The key of the section, if it is new.
  @discardableResult
  private func addToSection(_ placement: Placement) -> [UInt8]? {
    guard let value = placement.section else { return nil }
    let key = placement.rank.key[..<placement.sectionLength]
    return sections?.add(key, value) == true ? Array(key) : nil
  }

  private func note(_ batch: RowBatch, in change: inout RowsChange) {
    var moves: [RowsChange.Move] = []
    for row in batch.changed {
      switch (row.oldPlace, row.new == nil ? nil : place(of: row.key)) {
      case (let old?, let new?):
        moves.append(.init(key: row.key, from: old, to: new, isInSection: row.staysInSection))
      case (let old?, nil): change.removed.append(.init(key: row.key, place: old))
      case (nil, let new?): change.inserted.append(.init(key: row.key, place: new))
      case (nil, nil): break
      }
    }
    change.setMoves(moves)
    for (key, placement) in batch.kept {
      guard let index = table.index(of: placement.rank.tie) else { continue }
      change.updated.append(.init(key: key, place: place(at: index)))
    }
    change.sort()
  }
}

/// Rows that are changed together.
private struct RowBatch {
  struct Row {
    let key: ObjectKey
    let old: RowRank?
    let oldPlace: ResultPlace?
    let new: Placement?

    /// Whether the prefix of the key that identifies the section is the same as before.
    var staysInSection: Bool {
      guard let old, let new else { return false }
      return old.key.starts(with: new.rank.key[..<new.sectionLength])
    }
  }

  /// Rows that are inserted, removed, or have another sort key.
  var changed: [Row] = []
  /// Rows that have changed in another way.
  var kept: [(ObjectKey, Placement)] = []

  var isEmpty: Bool { changed.isEmpty && kept.isEmpty }
}
