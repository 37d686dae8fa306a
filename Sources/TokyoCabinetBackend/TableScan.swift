import Locks
import TokyoCabinet

/// A scan that is under way: where it stands, and what it still has to lend.
///
/// Records are copied out of the file a batch at a time, so that the closure runs under no lock. A
/// commit that comes in between first hands the scan a copy of the rest: a scan sees its table as it
/// was when it began, and the commit doesn't wait for it.
final class TableScan: Sendable {
  private let state: Locked<State>

  private struct State {
    /// Where to read on; nil is the first record.
    var offset: UInt64?
    /// Read beforehand, because of a commit.
    var rest: RecordBatch?
    var isFinished = false
  }

  init(from offset: UInt64?) { state = Locked(State(offset: offset)) }

  /// The next records, or nil at the end; called under the table's lock.
  func next(from database: HashDatabase) throws -> RecordBatch? {
    try state.withLock { state in
      if state.isFinished { return nil }
      var batch = RecordBatch()
      if let rest = state.rest {
        batch = rest
      } else {
        try database.fill(&batch, fromOffset: state.offset, atLeast: 64 << 10)
      }
      state.offset = batch.end
      state.isFinished = batch.isLast || batch.count == 0
      state.rest = nil
      return batch
    }
  }

  /// Copies everything up to the end of the file; called by a commit that holds the table's lock.
  func readRest(of database: HashDatabase) throws {
    try state.withLock { state in
      if state.isFinished || state.rest != nil { return }
      var batch = RecordBatch()
      try database.fill(&batch, fromOffset: state.offset, atLeast: .max)
      state.rest = batch
    }
  }

  /// There is nothing more to lend.
  func finish() { state.withLock { $0.isFinished = true } }
}
