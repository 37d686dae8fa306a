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
  /// Complexity: linear in the record. A policy other than `add` looks at the earlier records of
  /// the same hash, and ``DuplicatePolicy/replace`` has ``finish(synchronize:)`` move what follows
  /// the replaced records.
  ///
  /// - Returns: what has been done.
  /// - Throws: ``CDBError`` with `tooLarge`, `noSpace`, `ioError`, `closed`: the record is not
  ///   added, those before it stay, and the writer can go on.
  @discardableResult
  public func add(
    _ value: RawSpan, forKey key: RawSpan, ifPresent policy: DuplicatePolicy = .add
  ) throws(CDBError) -> Outcome {
    try checkOpen()
    return try records.add(value, key, policy)
  }

  /// Adds a record.
  ///
  /// - Returns: what has been done.
  /// - Throws: ``CDBError`` as ``add(pieces:forKey:ifPresent:)``.
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
  /// - Throws: ``CDBError`` as ``add(pieces:forKey:ifPresent:)``.
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
  /// - Throws: ``CDBError`` as ``add(pieces:forKey:ifPresent:)``.
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
