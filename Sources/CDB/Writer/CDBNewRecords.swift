internal import Files

/// The records of a file that is being created, and the content of its tables.
struct CDBNewRecords: ~Copyable {
  typealias Policy = CDBWriter.DuplicatePolicy
  typealias Outcome = CDBWriter.Outcome

  /// The final location of the file.
  let location: FileLocation
  let path: String
  let format: CDBFormat
  private let sizeLimit: Int
  var output: CDBOutput
  var index: CDBIndex
  private var earlier: CDBEarlierRecords?
  var replaced: [Range<Int>] = []
  private var replacedBytes = 0

  init(
    _ location: FileLocation, _ format: CDBFormat, _ sizeLimit: UInt64,
    _ output: consuming CDBOutput
  ) {
    (self.location, path) = (location, location.path)
    self.format = format
    self.sizeLimit = Int(clamping: sizeLimit)
    index = CDBIndex(format)
    self.output = output
  }

  var count: Int { index.count - replaced.count }

  var byteCount: Int { output.position - replacedBytes + count * 2 * format.pairSize }

  // MARK: Adding

  mutating func add(
    _ value: RawSpan, _ key: RawSpan, _ policy: Policy
  ) throws(CDBError) -> Outcome {
    let beginning = try begin(key, value.byteCount, policy)
    if beginning.isKept { return .keptOld }
    do throws(SystemError) {
      try output.append(UInt64(key.byteCount), UInt64(value.byteCount), format)
      try output.append(key)
      try output.append(value)
    } catch { throw takeBack(beginning, error) }
    return end(beginning)
  }

  mutating func add(
    pieces: [[UInt8]], _ key: RawSpan, _ policy: Policy
  ) throws(CDBError) -> Outcome {
    let count = pieces.reduce(0) { $0 + $1.count }
    let beginning = try begin(key, count, policy)
    if beginning.isKept { return .keptOld }
    do throws(SystemError) {
      try output.append(UInt64(key.byteCount), UInt64(count), format)
      try output.append(key)
      for piece in pieces {
        try piece.lend { (piece) throws(SystemError) in try output.append(piece) }
      }
    } catch { throw takeBack(beginning, error) }
    return end(beginning)
  }

  // MARK: The steps

  /// A record that is about to be written.
  private struct Beginning {
    let hash: UInt64
    /// The secret hash of the key; 0 if it is not needed.
    var keyHash: UInt64 = 0
    let position: Int
    let policy: Policy
    /// The earlier records of the key, if the policy needs them.
    var old: [Range<Int>] = []

    var isKept: Bool { policy == .insertIfAbsent && !old.isEmpty }
  }

  @inline(__always)
  private mutating func begin(
    _ key: RawSpan, _ valueCount: Int, _ policy: Policy
  ) throws(CDBError) -> Beginning {
    let hash = CDBHash.hash(key, format)
    var beginning = Beginning(hash: hash, position: output.position, policy: policy)
    if policy != .add || earlier != nil { beginning.keyHash = key.keyHash }
    if policy != .add { beginning.old = try earlierRecords(beginning.keyHash, key) }
    // Key and value are in memory, so the sum of their sizes can't overflow.
    let size = byteCount + key.byteCount + valueCount + 3 * format.pairSize
    if size > sizeLimit, !beginning.isKept { throw tooLarge([UInt8](copying: key)) }
    return beginning
  }

  private func tooLarge(_ key: [UInt8]) -> CDBError {
    CDBError(
      .tooLarge, path: path,
      message: """
        With this record the file would have more than \(sizeLimit) bytes. The earlier records are \
        safe. Finish the file, and put the rest into another one\
        \(format == .classic ? ", or write a .wide one." : ".")
        """,
      key: key)
  }

  private mutating func takeBack(_ beginning: Beginning, _ error: SystemError) -> CDBError {
    output.removeAll(from: beginning.position)
    return CDBError(error)
  }

  @inline(__always)
  private mutating func end(_ beginning: Beginning) -> Outcome {
    let entry = CDBIndex.Entry(hash: beginning.hash, position: UInt64(beginning.position))
    assert(
      index.count == 0 || index.entry(index.count - 1).position < entry.position,
      "a record precedes an earlier one")
    index.add(entry)
    earlier?.add(.init(hash: beginning.keyHash, position: entry.position))
    if beginning.old.isEmpty { return .added }
    if beginning.policy == .report { return .addedAgain }
    for range in beginning.old {
      earlier?.remove(beginning.keyHash, at: UInt64(range.lowerBound))
      replaced.append(range)
      replacedBytes += range.count
    }
    return .replaced
  }

  // MARK: Earlier records

  /// Returns the ranges of the records of a key that have been added.
  private mutating func earlierRecords(
    _ keyHash: UInt64, _ key: RawSpan
  ) throws(CDBError) -> [Range<Int>] {
    do throws(SystemError) {
      if earlier == nil { earlier = try allRecords() }
    } catch { throw CDBError(error) }
    var ranges: [Range<Int>] = []
    for position in earlier?.positions(keyHash) ?? [] {
      do throws(SystemError) {
        if let range = try range(ofRecordAt: Int(position), key) { ranges.append(range) }
      } catch { throw CDBError(error) }
    }
    return ranges
  }

  /// Reads the keys of all records that were added so far.
  private mutating func allRecords() throws(SystemError) -> CDBEarlierRecords {
    var all = CDBEarlierRecords(count: index.count)
    for number in 0..<index.count {
      let position = index.entry(number).position
      let start = Int(position) + format.pairSize
      let head = try output.read(Int(position)..<start)
      let keyCount = Int(head.lend { CDBLayout.pair($0, at: 0, format) }.0)
      let key = try output.read(start..<start + keyCount)
      all.add(.init(hash: key.lend { $0.keyHash }, position: position))
    }
    return all
  }

  /// Returns the range of a record, if it has this key.
  private func range(
    ofRecordAt position: Int, _ key: RawSpan
  ) throws(SystemError) -> Range<Int>? {
    let start = position + format.pairSize
    let head = try output.read(position..<start)
    let (keyCount, valueCount) = head.lend { CDBLayout.pair($0, at: 0, format) }
    guard keyCount == UInt64(key.byteCount) else { return nil }
    let found = try output.read(start..<start + key.byteCount)
    guard found.lend({ $0.hasSameBytes(as: key) }) else { return nil }
    return position..<start + key.byteCount + Int(valueCount)
  }

  /// Forgets the replaced records, whose bytes have been removed.
  mutating func forgetReplaced() { (replaced, replacedBytes, earlier) = ([], 0, nil) }
}
