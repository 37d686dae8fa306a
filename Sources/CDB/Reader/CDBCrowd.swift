internal import Files
internal import Locks

/// The records of a table with long rows of occupied slots, indexed by a secret hash of their keys.
///
/// The hash of the format is public, so keys can be chosen that all begin at one slot, and each
/// look-up would pass all of them. This index is built when a look-up meets a row that is too long
/// to be chance.
struct CDBCrowd: Sendable {
  /// The number of slots that a search visits before it uses the index.
  static let patience = 256

  private struct Entry {
    let keyHash: UInt64
    /// The number of slots between that of the hash and that of the record.
    let distance: Int
    let position: UInt64
  }

  private var entries: [Entry] = []
  /// The positions of the records that a search finds.
  private var positions: Set<UInt64> = []
  /// The errors of unreadable records, by their hashes.
  private var faults: [UInt64: CDBRecordArea.Fault] = [:]

  /// Visits the slots of a table, and reads the key of each record.
  init(_ bytes: RawSpan, _ table: CDBLayout.Table, _ area: CDBRecordArea) {
    func pair(_ slot: Int) -> (hash: UInt64, position: UInt64) {
      CDBLayout.pair(bytes, at: table.start + slot * area.format.pairSize, area.format)
    }
    // Begin after a free slot, so that no row of records is split.
    let first = (0..<table.slots).first { pair($0).position == 0 } ?? 0
    var rowLength = 0
    for step in 0..<table.slots {
      let slot = (first + step) % table.slots
      let (hash, position) = pair(slot)
      if position == 0 {
        rowLength = 0
        continue
      }
      let begin = CDBIndex.firstSlot(hash, table.slots)
      let distance = (slot - begin + table.slots) % table.slots
      // A search ends at a free slot, and does not find records after it.
      if distance <= rowLength { add(bytes, hash, position, distance, area, table.start, slot) }
      rowLength += 1
    }
    entries.sort { ($0.keyHash, $0.distance) < ($1.keyHash, $1.distance) }
  }

  private mutating func add(
    _ bytes: RawSpan, _ hash: UInt64, _ position: UInt64, _ distance: Int, _ area: CDBRecordArea,
    _ start: Int, _ slot: Int
  ) {
    do throws(CDBRecordArea.Fault) {
      let record = try area.record(
        bytes, at: position, from: start + slot * area.format.pairSize)
      let key = bytes.extracting(record.key)
      // A search skips a record whose slot has a different hash than its key.
      guard CDBHash.hash(key, area.format) == hash else { return }
      entries.append(Entry(keyHash: key.keyHash, distance: distance, position: position))
      positions.insert(position)
    } catch { faults[hash] = error }
  }

  /// Whether a search for its key finds the record at a position.
  func contains(_ position: UInt64) -> Bool { positions.contains(position) }

  /// Returns the next record of a key; nil after the last one.
  ///
  /// Complexity: O(log n) for the first record, O(1) for each further one.
  func next(
    _ search: inout CDBSearch, _ key: RawSpan, _ bytes: RawSpan, _ area: CDBRecordArea
  ) throws(CDBRecordArea.Fault) -> CDBRecordArea.Record? {
    if let fault = faults[search.hash] { throw fault }
    let keyHash = key.keyHash
    var probe = search.crowdSlot ?? firstSlot(keyHash)
    // Records that were found before this index was used are in it, too.
    var left = search.crowdSlot == nil ? search.count : 0
    while probe < entries.count, entries[probe].keyHash == keyHash {
      let record = try area.record(bytes, at: entries[probe].position, from: 0)
      probe += 1
      search.crowdSlot = probe
      guard bytes.extracting(record.key).hasSameBytes(as: key) else { continue }
      if left == 0 { return record }
      left -= 1
    }
    search.crowdSlot = probe
    return nil
  }

  private func firstSlot(_ keyHash: UInt64) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].keyHash < keyHash { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The indexes of crowded tables that look-ups have met, by table.
typealias CDBCrowds = Locked<[Int: CDBCrowd]>

extension CDBReader {
  /// Returns the next record of a key in a crowded table.
  func nextInCrowd(
    _ search: inout CDBSearch, _ bytes: RawSpan, _ key: RawSpan
  ) throws(CDBRecordArea.Fault) -> CDBRecordArea.Record? {
    let record = try crowd(search.table, bytes).next(&search, key, bytes, layout.area)
    if record != nil { search.count += 1 }
    return record
  }

  /// Returns the index of a crowded table, and builds it the first time.
  func crowd(_ table: Int, _ bytes: RawSpan) -> CDBCrowd {
    crowds.withLock { crowds in
      if let known = crowds[table] { return known }
      let new = CDBCrowd(bytes, layout.tables[table], layout.area)
      crowds[table] = new
      return new
    }
  }
}
