import Files
import Locks

// Checks of rows and names in class files that the log has replaced. Nothing else reads these.
extension LoggedBackend {
  /// Returns findings about records and buffers of an encrypted store that the log has replaced.
  ///
  /// They keep a valid seal until a checkpoint.
  func replacedFindings() throws(StoreError) -> [StoreFinding] {
    guard let sealing else { return [] }
    let layers = state.withLock { [$0.folding, $0.pending].compactMap(\.self) }
    var findings: [StoreFinding] = []
    for layer in layers { findings += try self.findings(replacedBy: layer, sealing) }
    return findings
  }

  private func findings(
    replacedBy pending: PendingRecords, _ sealing: Sealing
  ) throws(StoreError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for (table, changes) in pending.tables {
      for rowID in changes.rows.rowIDs.sorted() {
        let location = try location(rowID, table, sealing)
        findings += finding(errorLocation(rowID, table)) { (error) throws(StoreError) in
          try files.withRecord(rowID, in: table) { (sealed) throws(StoreError) in
            try sealing.verify(sealed, location, error)
          }
        }
      }
    }
    for key in pending.names.keys.map(\.text).sorted() {
      let location = StoreError.Location(path: location, className: StoreDirectory.buffers)
      findings += finding(location) { (error) throws(StoreError) in
        try files.withNamedBuffer(key) { (sealed) throws(StoreError) in
          try sealing.verify(sealed, sealing.location(ofBuffer: key), error)
        }
      }
    }
    return findings
  }

  private func finding(
    _ location: StoreError.Location, _ body: (StoreError.Location) throws(StoreError) -> Void?
  ) -> [StoreFinding] {
    do {
      _ = try body(location)
      return []
    } catch {
      // Other checks report a file that can't be read.
      return [StoreFinding(.recordDamaged, error, at: location)].filter { $0.kind == .notAuthentic }
    }
  }
}

extension Sealing {
  /// Verifies the seal of bytes at a location, and discards the content.
  fileprivate func verify(
    _ sealed: RawSpan, _ location: SealedLocation, _ error: StoreError.Location
  ) throws(StoreError) {
    var bytes: [UInt8] = []
    try open(sealed, location, to: &bytes) { error }
  }
}
