extension HashDatabase {
  /// Runs a closure whose writes are all or nothing.
  ///
  /// If the closure returns, its writes are committed; if it throws, they are undone. Writes of
  /// other threads wait meanwhile; look-ups of other threads see what has been written so far.
  /// Everything runs on the calling thread, as the C library requires. The transaction of a killed
  /// process is undone at the next opening. Nothing is synced: see ``synchronize()``. It uses
  /// `tchdbtranbegin`, `tchdbtrancommit` and `tchdbtranabort`.
  ///
  /// Complexity: each overwritten part of the file is first copied to a log beside the file, with a
  /// system call each.
  ///
  /// - Parameter body: Called with the database; must not begin another transaction, close the
  ///   database, or call another operation on the whole file.
  /// - Returns: The result of the closure.
  /// - Throws: An error of the closure; ``TokyoCabinetError`` with `inTransaction` for a nested
  ///   transaction, `readOnly`, `inForEach`, `closed`, or the code of a system call.
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
        // The first error is the important one; aborting after a failed commit is refused.
        try? handle.abort()
        throw error
      }
    }
  }
}
