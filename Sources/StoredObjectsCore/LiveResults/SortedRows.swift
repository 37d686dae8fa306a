/// Rows in the order of their sort keys, accessible by index.
///
/// It is a list of chunks, which copies share. So a copy takes constant time, and the next change
/// copies the list of chunks.
struct SortedRows {
  private(set) var chunks: [RowChunk] = []
  /// The index of the first row of each chunk, as far as known.
  private var starts: [Int] = []
  private(set) var count = 0

  /// Returns the tie of the row at an index.
  ///
  /// Complexity: O(log n), once the starts are known.
  func tie(at index: Int) -> UInt64 {
    precondition(index >= 0 && index < count, "The index \(index) is not below \(count).")
    let (chunk, offset) = place(of: index)
    return chunks[chunk].ties[offset]
  }

  private func place(of index: Int) -> (chunk: Int, offset: Int) {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle + 1 } else { high = middle }
    }
    return (low - 1, index - starts[low - 1])
  }

  /// Returns the index of the first row of a chunk.
  func start(of chunk: Int) -> Int { starts[chunk] }

  /// Determines the starts of chunks, before rows are accessed by index.
  ///
  /// Complexity: linear in the number of chunks behind the first one that has changed.
  mutating func prepareStarts() {
    while starts.count < chunks.count {
      let last = starts.count - 1
      starts.append(last < 0 ? 0 : starts[last] + chunks[last].count)
    }
  }

  private mutating func forgetStarts(behind chunk: Int) {
    if starts.count > chunk + 1 { starts.removeSubrange((chunk + 1)...) }
  }

  /// Returns the chunk that a row belongs to; nil if there are no chunks.
  ///
  /// Complexity: O(log n).
  func chunk(of rank: RowRank) -> Int? {
    var (low, high) = (0, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      if chunks[middle].isBefore(0, rank) { low = middle + 1 } else { high = middle }
    }
    return chunks.isEmpty ? nil : max(0, low - 1)
  }

  /// Appends a row behind all others.
  ///
  /// - Returns: The ID of its chunk, which is `newID` if that is a new one.
  mutating func append(_ rank: RowRank, newID: Int) -> Int {
    if chunks.last.map({ $0.count < RowChunk.greatestCount * 3 / 4 }) != true {
      chunks.append(RowChunk(id: newID))
    }
    chunks[chunks.count - 1].append(rank)
    count += 1
    return chunks[chunks.count - 1].id
  }

  mutating func insert(_ rank: RowRank, intoChunk chunk: Int) {
    chunks[chunk].insert(rank, at: chunks[chunk].offset(of: rank))
    count += 1
    forgetStarts(behind: chunk)
  }

  mutating func insertChunk(_ chunk: RowChunk, at index: Int) {
    chunks.insert(chunk, at: index)
    forgetStarts(behind: index - 1)
  }

  mutating func remove(at offset: Int, ofChunk chunk: Int) {
    chunks[chunk].remove(at: offset)
    count -= 1
    forgetStarts(behind: chunk)
  }

  mutating func removeChunk(_ chunk: Int) {
    chunks.remove(at: chunk)
    forgetStarts(behind: chunk - 1)
  }

  /// Moves the second half of a chunk into a new one behind it.
  mutating func split(_ chunk: Int, id: Int) {
    let second = chunks[chunk].split(id: id)
    insertChunk(second, at: chunk + 1)
  }

  /// Appends the rows of the next chunk to a chunk.
  mutating func join(_ chunk: Int) {
    let next = chunks[chunk + 1]
    chunks[chunk].append(next)
    removeChunk(chunk + 1)
    forgetStarts(behind: chunk)
  }
}
