import Files

// While saves are moved to the files in parallel with commits, there are several logs.
//
//     Commit.log              the log of new saves
//     Commit.EPOCH.log        an earlier log, until its content is in the files
extension StoreDirectory {
  /// Returns the file name of a log that later ones follow.
  package static func earlierLog(_ epoch: UInt64) -> String { "Commit.\(epoch).log" }

  /// Returns the epoch in the file name of an earlier log; nil for other files.
  package static func epoch(ofEarlierLog name: String) -> UInt64? {
    guard name.hasPrefix("Commit."), name.hasSuffix(".log"),
      let epoch = UInt64(name.dropFirst("Commit.".count).dropLast(".log".count)),
      earlierLog(epoch) == name
    else { return nil }
    return epoch
  }

  /// Whether a file is the present log or an earlier one.
  package static func isLog(_ name: String) -> Bool {
    name == log || epoch(ofEarlierLog: name) != nil
  }

  /// The name of a file whose room is kept for the next log.
  static let spareLog = newPrefix + "log"

  /// Opens an earlier log; nil if there is none of this epoch.
  package func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile? {
    let name = Self.earlierLog(epoch)
    guard try hasFile(name) else { return nil }
    return try systemErrors(at: path(name)) { try StoreFile(file(name), writable: !isReadOnly) }
  }

  /// Replaces the log by a new one, and renames it to an earlier log, in one step.
  ///
  /// A crash leaves either both logs, or the old one alone. When the method returns, the names are
  /// on the disk if `isSynced` is true.
  ///
  /// - Parameters:
  ///   - epoch: The epoch of the log.
  ///   - isSynced: Whether names are synced.
  ///   - prepare: Creates a log in the given file.
  /// - Returns: The new log.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`, with everything unchanged;
  ///   `reopenNeeded` if the exchange could not be undone.
  package func beginLog(
    after epoch: UInt64, isSynced: Bool, _ prepare: (StoreFile) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFile {
    let name = Self.earlierLog(epoch)
    return try systemErrors(at: path(name)) {
      do {
        try renameFile(file(Self.spareLog), file(name))
      } catch let error as SystemError where error.isMissing {
        try removeFile(file(name))
      }
      let next = try StoreFile(file(name), writable: true, rights: rights(ofNew: Self.log))
      do {
        try prepare(next)
        next.close()
        try exchangeNames(file(Self.log), file(name))
      } catch {
        try? removeFile(file(name))
        throw error
      }
      do throws(StoreError) {
        if isSynced { try synchronize() }
        return try StoreFile(file(Self.log), writable: true)
      } catch {
        try takeBack(name, error)
        throw error
      }
    }
  }

  private func takeBack(_ name: String, _ cause: StoreError) throws(StoreError) {
    do {
      try exchangeNames(file(Self.log), file(name))
      try? removeFile(file(name))
    } catch {
      // The two logs belong together anyway, and the next opening reads both.
      throw StoreError(
        .reopenNeeded, "A new log could not be opened. Close the backend and open it again.",
        at: .init(path: path(name)), underlying: cause.refusal ?? cause)
    }
  }

  /// Removes a log whose saves are in the files, and keeps its room for the next log.
  package func endEarlierLog(_ epoch: UInt64) {
    try? renameFile(file(Self.earlierLog(epoch)), file(Self.spareLog))
  }

  /// Frees the room that was kept for the next log.
  package func removeSpareLog() { remove(Self.spareLog) }

  /// Removes unneeded logs that a dead process has left.
  package func removeEarlierLogs(among names: [String], except needed: [UInt64]) {
    for name in names {
      guard let epoch = Self.epoch(ofEarlierLog: name), !needed.contains(epoch) else { continue }
      remove(name)
    }
  }
}
