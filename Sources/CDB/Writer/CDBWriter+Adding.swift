internal import Files

extension CDBWriter {
  /// What to do with a record whose key was added before.
  public enum DuplicatePolicy: Hashable, Sendable {
    /// Adds it all the same, without looking: the key has both values, and look-ups give the first.
    case add
    /// Removes the records of the key that were added before.
    case replace
    /// Keeps the record that was added before, and doesn't add this one.
    case insertIfAbsent
    /// Adds it all the same, and says so.
    case report
  }

  /// What has been done with a record.
  public enum Outcome: Hashable, Sendable {
    /// It is a new key; with ``DuplicatePolicy/add`` nobody has looked.
    case added
    /// The key was there, and has a further value now.
    case addedAgain
    /// The key was there, and has this value now.
    case replaced
    /// The key was there, and has kept its value.
    case keptOld
  }

  /// Adds a record.
  ///
  /// Complexity: linear in the record. A policy other than `add` looks at the earlier records of the
  /// same hash, and ``DuplicatePolicy/replace`` has ``finish(synchronize:)`` move what follows the
  /// replaced records.
  ///
  /// - Returns: what has been done.
  /// - Throws: ``CDBError`` with `tooLarge`, `noSpace`, `ioError`, `closed`: the record is not added,
  ///   those before it stay, and the writer can go on.
  @discardableResult
  public func add(
    _ value: RawSpan, forKey key: RawSpan, ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    let outcome = try begin(key, value.byteCount, policy)
    if outcome.isKept { return .keptOld }
    do throws(SystemError) {
      try output.append(UInt64(key.byteCount), UInt64(value.byteCount), format)
      try output.append(key)
      try output.append(value)
    } catch { throw takeBack(outcome, error) }
    return end(outcome)
  }

  /// Adds a record.
  ///
  /// - Returns: what has been done.
  /// - Throws: ``CDBError`` as ``add(_:forKey:ifPresent:)``.
  @discardableResult
  public func add(
    _ value: [UInt8], forKey key: [UInt8], ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try key.lend { (key) throws(CDBError) in
      try value.lend { (value) throws(CDBError) in try add(value, forKey: key, ifPresent: policy) }
    }
  }

  /// Adds a record of texts, in UTF-8.
  ///
  /// - Returns: what has been done.
  /// - Throws: ``CDBError`` as ``add(_:forKey:ifPresent:)``.
  @discardableResult
  public func add(
    _ value: String, forKey key: String, ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try add(Array(value.utf8), forKey: Array(key.utf8), ifPresent: policy)
  }

  /// Adds a record whose value is in several pieces, without joining them.
  ///
  ///     try writer.add(pieces: [[32], payload], forKey: key)
  ///
  /// - Returns: what has been done.
  /// - Throws: ``CDBError`` as ``add(_:forKey:ifPresent:)``.
  @discardableResult
  public func add(
    pieces: [[UInt8]], forKey key: [UInt8], ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    let count = pieces.reduce(0) { $0 + $1.count }
    return try key.lend { (key) throws(CDBError) in
      let outcome = try begin(key, count, policy)
      if outcome.isKept { return .keptOld }
      do throws(SystemError) {
        try output.append(UInt64(key.byteCount), UInt64(count), format)
        try output.append(key)
        for piece in pieces {
          try piece.lend { (piece) throws(SystemError) in try output.append(piece) }
        }
      } catch { throw takeBack(outcome, error) }
      return end(outcome)
    }
  }

  // MARK: The steps

  /// A record that is about to be written.
  private struct Beginning {
    let hash: UInt64
    let position: Int
    let policy: DuplicatePolicy
    /// The records of its key that were added before, where the policy wants to know.
    var old: [Range<Int>] = []

    var isKept: Bool { policy == .insertIfAbsent && !old.isEmpty }
  }

  private func begin(
    _ key: RawSpan, _ valueCount: Int, _ policy: DuplicatePolicy
  ) throws(CDBError) -> Beginning {
    try checkOpen()
    let hash = CDBHash.hash(key, format)
    var beginning = Beginning(hash: hash, position: output.position, policy: policy)
    if policy != .add { beginning.old = try earlierRecords(hash, key) }
    if !beginning.isKept { try checkRoom(key, valueCount) }
    return beginning
  }

  private func takeBack(_ beginning: Beginning, _ error: SystemError) -> CDBError {
    output.removeAll(from: beginning.position)
    return CDBError(error)
  }

  private func end(_ beginning: Beginning) -> Outcome {
    let position = UInt64(beginning.position)
    index.add(beginning.hash, at: position)
    earlier?.add(.init(hash: beginning.hash, position: position))
    if beginning.old.isEmpty { return .added }
    if beginning.policy == .report { return .addedAgain }
    for range in beginning.old {
      earlier?.remove(beginning.hash, at: UInt64(range.lowerBound))
      replaced.append(range)
      replacedBytes += range.count
    }
    return .replaced
  }

  /// Where the records of a key are that have been added.
  private func earlierRecords(_ hash: UInt64, _ key: RawSpan) throws(CDBError) -> [Range<Int>] {
    let known = earlier ?? CDBEarlierRecords(index)
    earlier = known
    var ranges: [Range<Int>] = []
    for position in known.positions(hash) {
      if let range = try range(ofRecordAt: Int(position), key) { ranges.append(range) }
    }
    return ranges
  }

  /// Where a record is, if its key is this one.
  private func range(ofRecordAt position: Int, _ key: RawSpan) throws(CDBError) -> Range<Int>? {
    let start = position + format.pairSize
    do throws(SystemError) {
      let head = try output.read(position..<start)
      let (keyCount, valueCount) = head.lend { CDBLayout.pair($0, at: 0, format) }
      guard keyCount == UInt64(key.byteCount) else { return nil }
      let found = try output.read(start..<start + key.byteCount)
      guard found.lend({ $0.hasSameBytes(as: key) }) else { return nil }
      return position..<start + key.byteCount + Int(valueCount)
    } catch { throw CDBError(error) }
  }
}
