import Files
import Locks

// What class files have of rows and names that the log has replaced is read by nobody but a check.
extension LoggedBackend {
  /// What is wrong with records and buffers of an encrypted store that the log has replaced: their
  /// seal is valid until the log is folded.
  func replacedFindings() throws -> [StoreFinding] {
    guard let sealing else { return [] }
    let pending = state.withLock { $0.pending }
    var findings: [StoreFinding] = []
    for (table, changes) in pending.tables {
      for rowID in changes.rows.keys.sorted() {
        let place = try place(rowID, table, sealing)
        findings += finding(errorPlace(rowID, table)) { error in
          try files.withRecord(rowID, in: table) { try sealing.verify($0, place, error) }
        }
      }
    }
    for key in pending.names.keys.map(\.text).sorted() {
      let place = StoreError.Place(path: location, className: StoreDirectory.buffers)
      findings += finding(place) { error in
        try files.withNamedBuffer(key) {
          try sealing.verify($0, sealing.place(ofBuffer: key), error)
        }
      }
    }
    return findings
  }

  private func finding(
    _ place: StoreError.Place, _ body: (StoreError.Place) throws -> Void?
  ) -> [StoreFinding] {
    do {
      _ = try body(place)
      return []
    } catch {
      // A file that can't be read is found by itself.
      return [StoreFinding(.recordDamaged, error, at: place)].filter { $0.kind == .notAuthentic }
    }
  }
}

extension Sealing {
  /// Opens what was sealed for a place, and throws it away.
  fileprivate func verify(
    _ sealed: RawSpan, _ place: SealedPlace, _ error: StoreError.Place
  ) throws {
    var bytes: [UInt8] = []
    try open(sealed, place, to: &bytes) { error }
  }
}
