import Files

extension HashDatabase {
  /// The number of records (`tchdbrnum`).
  ///
  /// - Throws: ``TokyoCabinetError`` with `closed`.
  public var count: Int { get throws { try number("count") { Int(clamping: handle.count) } } }

  /// The size of the file in bytes, without the space reserved for growth (`tchdbfsiz`).
  ///
  /// - Throws: ``TokyoCabinetError`` with `closed`.
  public var fileSize: UInt64 { get throws { try number("fileSize") { handle.fileSize } } }

  /// The number of buckets (`tchdbbnum`).
  ///
  /// - Throws: ``TokyoCabinetError`` with `closed`.
  public var bucketCount: UInt64 { get throws { try number("bucketCount") { handle.bucketCount } } }

  /// The number of bytes of which the offsets of records are multiples (`tchdbalign`).
  ///
  /// - Throws: ``TokyoCabinetError`` with `closed`.
  public var alignment: Int { get throws { try number("alignment") { Int(handle.alignment) } } }

  /// The options with which the file was created (`tchdbopts`).
  ///
  /// - Throws: ``TokyoCabinetError`` with `closed`.
  public var options: Tuning.Options {
    get throws { try number("options") { Tuning.Options(rawValue: handle.options) } }
  }

  /// Removes all records, and frees their space (`tchdbvanish`).
  ///
  /// Complexity: linear in the number of buckets. Safe on any thread; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` with `readOnly`, `inTransaction`, `inForEach`, `closed`, or
  ///   the code of a system call.
  public func removeAll() throws {
    try writing("removeAll", allowedInTransaction: false) {
      try staysOpen { try handle.removeAll() }
    }
  }

  /// Syncs everything written so far (`tchdbsync`: `msync` and `fsync`).
  ///
  /// Complexity: depends on the disk. Safe on any thread; waits for other writers.
  ///
  /// - Throws: ``TokyoCabinetError`` with `readOnly`, `syncFailed`, `mapFailed`, `inTransaction`,
  ///   `inForEach` or `closed`. After `syncFailed` the content of the disk is unknown: don't simply
  ///   try again, but close and check the file.
  public func synchronize() throws {
    if isReadOnly {
      throw error(.readOnly, "synchronize", "the database is open for reading only")
    }
    try exclusively("synchronize") { try handle.synchronize() }
  }

  /// Copies the file as it is now, while it is in use (`tchdbcopy`).
  ///
  /// Complexity: linear in the size of the file; writers wait meanwhile. An existing file at that
  /// path is overwritten.
  ///
  /// - Throws: ``TokyoCabinetError`` with `other` if the copy can't be written, `invalid` for a
  ///   path that the library would run as a command, `inTransaction`, `inForEach` or `closed`.
  public func copy(to path: String) throws {
    if path.hasPrefix("@") || path.utf8.contains(0) {
      throw error(.invalid, "copy", "the path of a copy must not begin with @: write ./@ instead")
    }
    try exclusively("copy") { try handle.copy(to: path) }
  }

  /// Rewrites the file in another layout, without gaps (`tchdboptimize`).
  ///
  /// The library writes a file beside this one (`path.tmp.number`), removes this one and renames
  /// the other: a process killed between the last two steps leaves only the other name.
  ///
  /// Complexity: linear in the size of the file, with a second file of that size on the disk.
  ///
  /// - Throws: ``TokyoCabinetError`` with `readOnly`, `fileTooLarge` if the records don't fit into
  ///   that layout, `inTransaction`, `inForEach`, `closed`, or the code of a system call.
  public func optimize(_ tuning: Tuning) throws {
    try writing("optimize", allowedInTransaction: false) {
      try checkRoom(for: tuning)
      // Without this check, the library would receive a signal that ends the process.
      try checkFileSizeLimit(Int(clamping: tuning.initialSize + handle.fileSize))
      try staysOpen {
        try replacingFile { try handle.optimize(tuning) }
      }
    }
  }

  private func checkFileSizeLimit(_ size: Int) throws {
    do {
      try Files.checkFileSizeLimit(size, path)
    } catch let failure {
      throw TokyoCabinetError(
        .noSpace, operation: "tchdboptimize", path: path,
        message: "the limit on the size of files leaves no room to rebuild the file",
        systemError: failure.number)
    }
  }

  /// Runs a call that closes and reopens the file; closes the database if reopening failed.
  private func staysOpen(_ body: () throws -> Void) throws {
    defer { if !handle.isOpen { markClosed() } }
    try body()
  }

  private func number<Value>(_ name: String, _ read: () -> Value) throws -> Value {
    try checkOpen(name)
    return read()
  }
}
