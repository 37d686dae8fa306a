import Logging
import StoreEngine

extension StoreError {
  /// Whether an index is damaged, which can be rebuilt, and not the records it is built from.
  var isOfIndex: Bool { code == .damaged && location.className == nil }

  /// Whether a single record can't be read, which does not affect any other.
  var isOfRecord: Bool {
    (code == .damaged || code == .notAuthentic) && location.className != nil
      && (location.rowID ?? 0) > ClassMetadata.rowID
  }
}

extension Store {
  /// Runs a closure that reads a record for an index; reports a damaged record and returns nil.
  ///
  /// A single record that can't be read must not prevent saving all others. ``check(progress:)``
  /// finds it, and so does every attempt to read it.
  func reading<Result>(
    _ entry: RegisteredClass, _ rowID: UInt32, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    do {
      return try body()
    } catch  where error.isOfRecord {
      noteLeftOut(entry, rowID, error)
      return nil
    }
  }

  /// Reports a record that indexes leave out.
  func noteLeftOut(_ entry: RegisteredClass, _ rowID: UInt32, _ error: StoreError) {
    let failure = FetchFailure(className: entry.name, rowID: rowID, error: error)
    logger.error("A damaged record is left out of the indexes of its class: \(error)")
    tell { $0.store(self, didLeaveOutOfIndexes: failure) }
  }
}

extension RegisteredClass {
  /// Returns the error of a query; for a damaged index it says what to do.
  func queryError(_ error: any Error) -> StoreError {
    guard let damage = error as? StoreError, damage.code == .damaged,
      damage.location.path?.hasSuffix(".\(OrderedTableName.Kind.index.rawValue)") == true
    else { return .wrapping(error, .ioError, at: location()) }
    var location = damage.location
    location.className = name
    return StoreError(
      .damaged,
      """
      \(damage.message) This is an index, and no object is lost: rebuildIndexes(of:) rebuilds the \
      indexes of the class.
      """, at: location, underlying: damage)
  }
}
