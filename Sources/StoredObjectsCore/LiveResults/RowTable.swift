/// Rows in the order of their sort keys, accessible by index and by row.
///
/// An order-statistic structure: finding the row at an index, or the index of a row, takes O(log n)
/// and time linear in the length of a chunk.
struct RowTable {
  /// The rows by index.
  private(set) var rows = SortedRows()
  /// The chunk of each row, by ``RowRank/tie``.
  private var chunkIDs: [UInt64: Int] = [:]
  /// The indices of the chunks, by their IDs.
  private var places: [Int] = []
  /// IDs of removed chunks.
  private var freeIDs: [Int] = []

  init() {}

  /// Creates a table of sorted rows.
  init(sorted ranks: [RowRank]) {
    chunkIDs.reserveCapacity(ranks.count)
    for rank in ranks {
      let id = rows.append(rank, newID: places.count)
      if id == places.count { places.append(id) }
      chunkIDs[rank.tie] = id
    }
    rows.prepareStarts()
  }

  var count: Int { rows.count }

  func contains(_ tie: UInt64) -> Bool { chunkIDs[tie] != nil }

  /// Returns the rank of a row; nil if it is not in the table.
  func rank(of tie: UInt64) -> RowRank? {
    guard let (chunk, offset) = place(of: tie) else { return nil }
    return rows.chunks[chunk].rank(offset)
  }

  /// Returns the index of a row; nil if it is not in the table.
  func index(of tie: UInt64) -> Int? {
    guard let (chunk, offset) = place(of: tie) else { return nil }
    return rows.start(of: chunk) + offset
  }

  private func place(of tie: UInt64) -> (chunk: Int, offset: Int)? {
    guard let id = chunkIDs[tie], let offset = rows.chunks[places[id]].ties.firstIndex(of: tie)
    else { return nil }
    return (places[id], offset)
  }

  /// Prepares access by index after changes.
  mutating func prepareIndices() { rows.prepareStarts() }

  /// The rows, as ``RowRank/tie``, in no particular order.
  var ties: some Collection<UInt64> { chunkIDs.keys }

  /// Adds a row that is not in the table.
  mutating func insert(_ rank: RowRank) {
    guard let chunk = rows.chunk(of: rank) else {
      let id = rows.append(rank, newID: makeID())
      places[id] = 0
      chunkIDs[rank.tie] = id
      return
    }
    rows.insert(rank, intoChunk: chunk)
    chunkIDs[rank.tie] = rows.chunks[chunk].id
    if rows.chunks[chunk].count > RowChunk.greatestCount { split(chunk) }
  }

  /// Removes a row, if it is in the table.
  mutating func remove(_ tie: UInt64) {
    guard let (chunk, offset) = place(of: tie) else { return }
    chunkIDs[tie] = nil
    rows.remove(at: offset, ofChunk: chunk)
    let count = rows.chunks[chunk].count
    if count == 0 {
      removeChunk(chunk) { $0.removeChunk(chunk) }
    } else if count < RowChunk.leastCount, chunk + 1 < rows.chunks.count,
      count + rows.chunks[chunk + 1].count <= RowChunk.greatestCount / 2
    {
      for tie in rows.chunks[chunk + 1].ties { chunkIDs[tie] = rows.chunks[chunk].id }
      removeChunk(chunk + 1) { $0.join(chunk) }
    }
  }

  private mutating func makeID() -> Int {
    if let id = freeIDs.popLast() { return id }
    places.append(0)
    return places.count - 1
  }

  private mutating func split(_ chunk: Int) {
    let id = makeID()
    rows.split(chunk, id: id)
    for tie in rows.chunks[chunk + 1].ties { chunkIDs[tie] = id }
    renumber(from: chunk + 1)
  }

  private mutating func removeChunk(_ chunk: Int, _ change: (inout SortedRows) -> Void) {
    freeIDs.append(rows.chunks[chunk].id)
    change(&rows)
    renumber(from: chunk)
  }

  private mutating func renumber(from chunk: Int) {
    for index in chunk..<max(chunk, rows.chunks.count) { places[rows.chunks[index].id] = index }
  }
}
