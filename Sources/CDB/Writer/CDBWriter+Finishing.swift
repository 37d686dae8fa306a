internal import Files

extension CDBWriter {
  /// Writes the hash tables, syncs the file, and renames it to its final name.
  ///
  /// At any moment there is either the old file or the whole new one, even after a power cut.
  ///
  /// Complexity: linear in the number of records; linear in the bytes if records were replaced.
  ///
  /// - Parameter synchronize: Pass false to leave it to the system when the file is written to the
  ///   disk: that is faster, but after a power cut the file may be empty.
  /// - Throws: ``CDBError`` with `noSpace` or `ioError`. The old file is unchanged. On a full disk
  ///   the writer stays open, and you can call the method again. After other failures the writer is
  ///   canceled, because the state of the disk is unknown.
  public func finish(synchronize: Bool = true) throws(CDBError) {
    try finish(synchronize: synchronize, trailer: [])
  }

  /// Finishes the file with bytes after the last table, which readers ignore.
  ///
  /// - Parameters:
  ///   - synchronize: Whether the file is synced.
  ///   - trailer: The bytes.
  ///   - isNameSynced: Whether its name is synced, too; the caller may sync several at once.
  /// - Throws: ``CDBError`` with `noSpace` or `ioError`.
  package func finish(
    synchronize: Bool, trailer: [UInt8], isNameSynced: Bool = true
  ) throws(CDBError) {
    try checkOpen()
    do throws(SystemError) {
      try records.dropReplaced()
    } catch {
      cancel()
      throw CDBError(error)
    }
    let dataEnd = records.output.position
    do throws(SystemError) {
      try records.writeTables(trailer)
    } catch {
      records.output.removeAll(from: dataEnd)
      if !error.isFull { cancel() }
      throw CDBError(error)
    }
    do throws(SystemError) {
      try install(synchronize: synchronize, isNameSynced: synchronize && isNameSynced)
    } catch {
      cancel()
      throw CDBError(error)
    }
  }

  private func install(synchronize: Bool, isNameSynced: Bool) throws(SystemError) {
    if synchronize { try records.output.synchronize() }
    try records.output.rename(to: records.location)
    close()
    if isNameSynced { try records.location.synchronizeDirectory() }
  }
}

extension CDBNewRecords {
  mutating func writeTables(_ trailer: [UInt8]) throws(SystemError) {
    var header: [UInt8] = []
    let (sorted, starts) = index.byTable()
    for table in 0..<CDBFormat.tableCount {
      let entries = starts[table]..<starts[table + 1]
      let (position, slotCount) = (UInt64(output.position), UInt64(entries.count * 2))
      if format == .wide {
        header.append(littleEndian: position)
        header.append(littleEndian: slotCount)
      } else {
        header.append(littleEndian: slotCount << 32 | position)
      }
      try sorted.slots(of: entries).lendBytes { (slots) throws(SystemError) in
        try output.append(slots)
      }
    }
    try trailer.lend { (trailer) throws(SystemError) in try output.append(trailer) }
    try output.flush()
    try output.trim()
    try output.write(header, at: 0)
  }

  // MARK: Replaced records

  /// Moves the records that follow replaced ones into their places, once for all of them.
  mutating func dropReplaced() throws(SystemError) {
    if replaced.isEmpty { return }
    let kept = count
    try output.flush()
    index.remove(Set(replaced.map { UInt64($0.lowerBound) }))
    replaced.sort { $0.lowerBound < $1.lowerBound }
    var (target, dropped) = (replaced[0].lowerBound, 0)
    var droppedBefore: [(position: Int, bytes: Int)] = []
    for (number, hole) in replaced.enumerated() {
      dropped += hole.count
      droppedBefore.append((hole.lowerBound, dropped))
      let next = number + 1 < replaced.count ? replaced[number + 1].lowerBound : output.position
      target = try move(hole.upperBound..<next, to: target)
    }
    index.movePositions { $0 - Self.bytes(before: $0, droppedBefore) }
    output.removeAll(from: target)
    forgetReplaced()
    assert(
      count == kept && (kept == 0 || index.entry(kept - 1).position < UInt64(target)),
      "records were lost with those that replaced them")
  }

  private func move(_ range: Range<Int>, to target: Int) throws(SystemError) -> Int {
    var done = 0
    while done < range.count {
      let part = min(range.count - done, CDBOutput.bufferSize)
      let start = range.lowerBound + done
      try output.write(try output.read(start..<start + part), at: target + done)
      done += part
    }
    return target + range.count
  }

  /// Returns the number of dropped bytes before a position, by binary search.
  private static func bytes(
    before position: UInt64, _ dropped: [(position: Int, bytes: Int)]
  ) -> UInt64 {
    var (low, high) = (0, dropped.count)
    while low < high {
      let middle = (low + high) / 2
      if dropped[middle].position < Int(position) { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? 0 : UInt64(dropped[low - 1].bytes)
  }
}
