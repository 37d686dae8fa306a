import Files
import StoreEngine

/// The changes of a save, or of a step of building, to a full-text index.
///
/// The changes are collected first. At the end, each changed chunk is rewritten once.
struct TextIndexUpdate {
  private let text: RegisteredText
  private let backend: any StoreBackend
  /// Whether to ignore the existing content of the table.
  private let isNew: Bool
  private var added: [PostingCollector]
  private var removed: [PostingCollector]
  private var counts: TextCounts
  /// The changed lengths of each attribute, in row order.
  private var lengths: [[(row: UInt32, code: UInt8)]]
  private var folded = FoldedText()

  init(_ text: RegisteredText, _ backend: any StoreBackend, isNew: Bool) throws(StoreError) {
    (self.text, self.backend, self.isNew) = (text, backend, isNew)
    added = text.attributes.map { _ in PostingCollector() }
    removed = added
    counts = try isNew ? TextCounts(text.attributes.count) : text.counts(backend)
    lengths = text.attributes.map { _ in [] }
  }

  /// The approximate memory size.
  var byteCount: Int { added.reduce(0) { $0 + $1.byteCount } }

  /// Adds the change of a row: its texts before, nil if it did not exist, and its texts after.
  ///
  /// - Precondition: The row is greater than all rows before it.
  mutating func replace(_ row: UInt32, _ old: [String]?, _ new: [String]?) {
    // The counts are from a file and may have any value, so the arithmetic must not trap.
    if new != nil, old == nil { counts.objects &+= 1 }
    if new == nil, old != nil { counts.objects -= min(1, counts.objects) }
    for attribute in text.attributes.indices where old == nil || old?[attribute] != new?[attribute]
    {
      if let old { remove(row, old[attribute], attribute) }
      let code = new.map { add(row, $0[attribute], attribute) } ?? 0
      lengths[attribute].append((row, code))
    }
  }

  private mutating func remove(_ row: UInt32, _ text: String, _ attribute: Int) {
    folded.fold(text)
    removed[attribute].add(row, folded)
    counts.lengths[attribute] -= min(UInt64(folded.scalars.count), counts.lengths[attribute])
  }

  /// Adds a text, and returns the code of its length.
  private mutating func add(_ row: UInt32, _ text: String, _ attribute: Int) -> UInt8 {
    folded.fold(text)
    added[attribute].add(row, folded)
    counts.lengths[attribute] &+= UInt64(folded.scalars.count)
    return PostingFormat.code(length: folded.scalars.count)
  }

  /// Adds the changes of the table to a change set.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, and the errors of reading.
  mutating func finish(_ changes: inout ChangeSet, stamp: [UInt8]) throws(StoreError) {
    var writer = TableWriter(text.table, clearsFirst: isNew)
    // If the table is replaced, damage in it does not matter.
    let saves = isNew ? (try? text.counts(backend))?.saves ?? .random(in: 0 ... .max) : counts.saves
    counts.saves = saves &+ 1
    writer.put(PostingFormat.stampKey, stamp, &changes)
    writer.put(PostingFormat.countsKey, counts.bytes, &changes)
    // In key order, so that the changes need no sorting.
    for attribute in text.attributes.indices { try merge(attribute, &writer, &changes) }
    for attribute in text.attributes.indices { try writeLengths(attribute, &writer, &changes) }
    changes.ordered.append(writer.changes)
  }

  // MARK: Chunks

  private mutating func merge(
    _ attribute: Int, _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) throws(StoreError) {
    let added = added[attribute].takeLists()
    let removed = removed[attribute].takeLists()
    var (left, right) = (0, 0)
    while left < added.count || right < removed.count {
      let isAdded =
        right == removed.count
        || left < added.count && added[left].trigram <= removed[right].trigram
      let isRemoved =
        left == added.count
        || right < removed.count && removed[right].trigram <= added[left].trigram
      let merge = PostingMerge(
        text, attribute, backend, isAdded ? added[left] : nil, isRemoved ? removed[right] : nil)
      do {
        if isNew { try merge.write(&writer, &changes) } else { try merge.run(&writer, &changes) }
      } catch  where error.isOfPostings {
        throw .damagedPostings(PostingDamage(), at: backend.location)
      }
      if isAdded { left += 1 }
      if isRemoved { right += 1 }
    }
  }

  private func writeLengths(
    _ attribute: Int, _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) throws(StoreError) {
    var rest = lengths[attribute][...]
    while let first = rest.first {
      let block = first.row >> PostingFormat.blockShift
      let rows = rest.prefix { $0.row >> PostingFormat.blockShift == block }
      rest = rest[rows.endIndex...]
      try writeLengths(rows, attribute, block, &writer, &changes)
    }
  }

  private func writeLengths(
    _ rows: ArraySlice<(row: UInt32, code: UInt8)>, _ attribute: Int, _ block: UInt32,
    _ writer: inout TableWriter, _ changes: inout ChangeSet
  ) throws(StoreError) {
    let key = PostingFormat.lengthsKey(attribute, block: block)
    let old = try isNew ? nil : backend.withValue(of: key, in: text.table) { [UInt8](copying: $0) }
    let size = 1 << Int(PostingFormat.blockShift)
    var bytes = old ?? []
    if bytes.count != size { bytes = [UInt8](repeating: 0, count: size) }
    for (row, code) in rows { bytes[Int(row) & (size - 1)] = code }
    let isEmpty = bytes.allSatisfy { $0 == 0 }
    if !isEmpty || old != nil { writer.put(key, isEmpty ? nil : bytes, &changes) }
  }
}

/// A writer of changes to one ordered table.
struct TableWriter {
  private(set) var changes: ChangeSet.OrderedTableChanges

  init(_ table: OrderedTableID, clearsFirst: Bool) {
    changes = .init(table: table, clearsFirst: clearsFirst)
  }

  /// Puts a key with a value; nil removes the key.
  mutating func put(_ key: [UInt8], _ value: [UInt8]?, _ set: inout ChangeSet) {
    changes.changes.append(set.takeIn(key, value))
  }
}
