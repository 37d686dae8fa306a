internal import Files

extension CDBWriter {
  /// The handling of a record whose key was added before.
  public enum DuplicatePolicy: Hashable, Sendable {
    /// Adds it without a check: the key has both values, and look-ups return the first.
    case add
    /// Removes the earlier records of the key.
    case replace
    /// Keeps the earlier record, and does not add this one.
    case insertIfAbsent
    /// Adds it anyway, and reports it.
    case report
  }

  /// The result of adding a record.
  public enum Outcome: Hashable, Sendable {
    /// The key is new; with ``DuplicatePolicy/add`` it was not checked.
    case added
    /// The key existed, and has a further value now.
    case addedAgain
    /// The key existed, and has this value now.
    case replaced
    /// The key existed, and has kept its value.
    case keptOld
  }

  /// Adds a record.
  ///
  /// Complexity: linear in the record. A policy other than `add` checks earlier records with the
  /// same hash. After ``DuplicatePolicy/replace``, ``finish(synchronize:)`` moves the records that
  /// follow the replaced ones.
  ///
  /// - Returns: The result.
  /// - Throws: ``CDBError`` with `tooLarge`, `noSpace`, `ioError` or `closed`: the record is not
  ///   added, earlier ones remain, and you can continue to use the writer.
  @discardableResult
  public func add(
    _ value: RawSpan, forKey key: RawSpan, ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try checkOpen()
    return try records.add(value, key, policy)
  }

  /// Adds a record.
  ///
  /// Complexity: linear in the record. A policy other than `add` checks earlier records with the
  /// same hash.
  ///
  /// - Returns: The result.
  /// - Throws: ``CDBError`` as ``add(pieces:forKey:ifPresent:)``.
  @discardableResult
  public func add(
    _ value: [UInt8], forKey key: [UInt8], ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try key.lend { (key) throws(CDBError) in
      try value.lend { (value) throws(CDBError) in try add(value, forKey: key, ifPresent: policy) }
    }
  }

  /// Adds a record of strings, in UTF-8.
  ///
  /// Complexity: linear in the record. A policy other than `add` checks earlier records with the
  /// same hash.
  ///
  /// - Returns: The result.
  /// - Throws: ``CDBError`` as ``add(pieces:forKey:ifPresent:)``.
  @discardableResult
  public func add(
    _ value: String, forKey key: String, ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try add(Array(value.utf8), forKey: Array(key.utf8), ifPresent: policy)
  }

  /// Adds a record whose value consists of several pieces, without joining them.
  ///
  ///     try writer.add(pieces: [[32], payload], forKey: key)
  ///
  /// Complexity: linear in the record. A policy other than `add` checks earlier records with the
  /// same hash.
  ///
  /// - Returns: The result.
  /// - Throws: ``CDBError`` with `tooLarge`, `noSpace`, `ioError` or `closed`: the record is not
  ///   added, earlier ones remain, and you can continue to use the writer.
  @discardableResult
  public func add(
    pieces: [[UInt8]], forKey key: [UInt8], ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try checkOpen()
    return try key.lend { (key) throws(CDBError) in
      try records.add(pieces: pieces, key, policy)
    }
  }
}
