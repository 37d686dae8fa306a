import Files
import StoreEngine

/// What a save, or a step of building, does to a full-text index.
///
/// Objects are taken on first, and the chunks that they change rewritten at the end, each once.
struct TextIndexUpdate {
  private let text: RegisteredText
  private let backend: any StoreBackend
  /// Whether nothing in the table counts.
  private let isNew: Bool
  private var added: [PostingCollector]
  private var removed: [PostingCollector]
  private var counts: TextCounts
  /// The lengths that change of each attribute, in the order of the rows.
  private var lengths: [[(row: UInt32, code: UInt8)]]
  private var folded = FoldedText()

  init(_ text: RegisteredText, _ backend: any StoreBackend, isNew: Bool) throws(StoreError) {
    (self.text, self.backend, self.isNew) = (text, backend, isNew)
    added = text.attributes.map { _ in PostingCollector() }
    removed = added
    counts = try isNew ? TextCounts(text.attributes.count) : text.counts(backend)
    lengths = text.attributes.map { _ in [] }
  }

  /// About how much memory is in use.
  var byteCount: Int { added.reduce(0) { $0 + $1.byteCount } }

  /// Takes on what has become of a row: its texts before, nil when it was not there, and after.
  ///
  /// - Precondition: the row is above all before it.
  mutating func replace(_ row: UInt32, _ old: [String]?, _ new: [String]?) {
    // The counts are of a file, and may be anything.
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

  /// Returns the code of its length.
  private mutating func add(_ row: UInt32, _ text: String, _ attribute: Int) -> UInt8 {
    folded.fold(text)
    added[attribute].add(row, folded)
    counts.lengths[attribute] &+= UInt64(folded.scalars.count)
    return PostingFormat.code(length: folded.scalars.count)
  }

  /// Adds what changes in the table.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`; what reading throws.
  mutating func finish(_ changes: inout ChangeSet, stamp: [UInt8]) throws(StoreError) {
    var writer = TableWriter(text.table, clearsFirst: isNew)
    // What is there may be damaged, when it does not count.
    let saves = isNew ? (try? text.counts(backend))?.saves ?? .random(in: 0 ... .max) : counts.saves
    counts.saves = saves &+ 1
    writer.put(PostingFormat.stampKey, stamp, &changes)
    writer.put(PostingFormat.countsKey, counts.bytes, &changes)
    // In the order of the keys, so that they need not be sorted.
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

/// Puts down what changes in one ordered table.
struct TableWriter {
  private(set) var changes: ChangeSet.OrderedTableChanges

  init(_ table: OrderedTableID, clearsFirst: Bool) {
    changes = .init(table: table, clearsFirst: clearsFirst)
  }

  /// Puts a key with a value; nil removes it.
  mutating func put(_ key: [UInt8], _ value: [UInt8]?, _ set: inout ChangeSet) {
    changes.changes.append(set.takeIn(key, value))
  }
}
