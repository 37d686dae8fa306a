import Files

// While saves are brought to the files beside others, there are several logs.
//
//     Commit.log              where saves go
//     Commit.EPOCH.log        an earlier one, until what it holds is in the files
extension StoreDirectory {
  /// The file of a log that is followed by later ones.
  package static func earlierLog(_ epoch: UInt64) -> String { "Commit.\(epoch).log" }

  /// The epoch of an earlier log by the name of its file; nil for other files.
  package static func epoch(ofEarlierLog name: String) -> UInt64? {
    guard name.hasPrefix("Commit."), name.hasSuffix(".log"),
      let epoch = UInt64(name.dropFirst("Commit.".count).dropLast(".log".count)),
      earlierLog(epoch) == name
    else { return nil }
    return epoch
  }

  /// Whether a file is a log, the one where saves go or an earlier one.
  package static func isLog(_ name: String) -> Bool {
    name == log || epoch(ofEarlierLog: name) != nil
  }

  /// A file that has the room of a log, for the next one.
  static let spareLog = newPrefix + "log"

  /// An earlier log; nil when there is none of this epoch.
  package func openEarlierLog(_ epoch: UInt64) throws(StoreError) -> StoreFile? {
    let name = Self.earlierLog(epoch)
    guard try hasFile(name) else { return nil }
    return try systemErrors(at: path(name)) { try StoreFile(file(name), writable: !isReadOnly) }
  }

  /// Puts a new log in the place of the log, which gets the name of an earlier one, in one step.
  ///
  /// A crash leaves both, or the log alone. Afterwards their names are on the disk, if they are to
  /// be.
  ///
  /// - Parameters:
  ///   - epoch: The epoch of the log.
  ///   - isSynced: Whether names are brought to the disk.
  ///   - prepare: Makes a log of the file that it gets.
  /// - Returns: The new log.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`; everything is as it was then. With
  ///   `reopenNeeded` it is not.
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
      // Both belong together all the same, and the next opening reads both.
      throw StoreError(
        .reopenNeeded, "A new log could not be opened. Close the backend and open it again.",
        at: .init(path: path(name)), underlying: cause.refusal ?? cause)
    }
  }

  /// Removes a log whose saves are in the files; its room is kept for the next one.
  package func endEarlierLog(_ epoch: UInt64) {
    try? renameFile(file(Self.earlierLog(epoch)), file(Self.spareLog))
  }

  /// Gives back the room that was kept for the next log.
  package func removeSpareLog() { remove(Self.spareLog) }

  /// Removes logs that nobody needs, which a dead process has left.
  package func removeEarlierLogs(among names: [String], except needed: [UInt64]) {
    for name in names {
      guard let epoch = Self.epoch(ofEarlierLog: name), !needed.contains(epoch) else { continue }
      remove(name)
    }
  }
}
