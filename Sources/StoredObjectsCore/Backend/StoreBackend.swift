/// Where a store keeps its records: tables of rows, and named buffers.
///
/// A table holds the records of one class under row IDs (`UInt32`, from 1). A backend sees only
/// bytes: it knows neither classes nor what a record means. Several stores may share one backend, on
/// any threads, so that every call must be safe beside every other.
///
/// What a backend promises:
///
/// 1. ``commit(_:)`` takes a whole ``ChangeSet`` or nothing. A commit that throws has changed
///    nothing that a later call can see, and can be tried again.
/// 2. What a commit has returned from, every later call sees, on every thread.
/// 3. Look-ups and scans lend bytes: they are read where they are, valid only inside the closure.
///    The closure must not call the backend, and should be short: it may run under a lock.
/// 4. Bytes that make no sense end in a ``StoreError``, never in a trap or in made-up data.
/// 5. A closed backend throws ``StoreError/Code/closed`` from every call but `close()`.
///
/// The conformance suite in `StoredObjectsTestSupport` tests all of this. <doc:WritingABackend>
/// shows how to write one.
public protocol StoreBackend: RecordSource {
  /// What the stores on this backend share. Make one and keep it.
  var coordinator: StoreCoordinator { get }

  /// Looks at the files, before a check reads their records; by default only asks for the tables.
  ///
  /// A backend whose files can be so damaged that reading them is dangerous, or ends too early, says
  /// so here and leaves them out.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func inspect() throws -> StoreInspection

  /// Writes a change set: all of it, or nothing.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `rowExists` (an insert of a row that is there),
  ///   `invalidName` (a buffer's name), `full`, `ioError`, `damaged` or `closed`. Nothing has been
  ///   changed then. With `reopenNeeded` the disk has failed half-way, and what it holds is known
  ///   when the backend is opened again.
  func commit(_ changes: ChangeSet) throws
}
