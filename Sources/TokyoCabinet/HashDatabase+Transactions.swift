extension HashDatabase {
  /// Runs a closure whose writes are done together or not at all.
  ///
  /// When the closure returns, its writes are committed; when it throws, they are taken back. Other
  /// threads' writes wait meanwhile; other threads' look-ups see what has been written so far. All
  /// of it runs on the calling thread (a rule of the C library). A killed process's transaction is
  /// taken back on the next open. Nothing is brought to the disk: see ``synchronize()``.
  /// `tchdbtranbegin`, `tchdbtrancommit`, `tchdbtranabort`.
  ///
  /// Complexity: each overwritten part of the file is first copied to a log beside the file, with a
  /// system call each.
  ///
  /// - Parameter body: Gets the database; must not begin another transaction, close, or do anything
  ///   else to the whole file.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws; ``TokyoCabinetError`` with `inTransaction` for a
  ///   transaction within a transaction, `readOnly`, `inForEach`, `closed`, or a code of a system
  ///   call.
  public func transaction<Result>(_ body: (HashDatabase) throws -> Result) throws -> Result {
    if isReadOnly {
      throw error(.readOnly, "transaction", "the database is open for reading only")
    }
    return try exclusively("transaction", as: .transaction) {
      try handle.begin()
      do {
        let result = try body(self)
        try handle.commit()
        return result
      } catch {
        countWrite()
        // The first error is the one that matters; an abort after a failed commit is refused.
        try? handle.abort()
        throw error
      }
    }
  }
}
