import Locks
public import StoreEngine

/// The external values on the server: a row for each value, and one for each of its chunks.
///
/// Each call is a transaction of its own, so a value of any size needs the memory of one chunk. A
/// commit names the values to which its records refer, and the server refuses it if one of them is
/// gone. Other machines may be reading a removed value, or be about to refer to it. Therefore its
/// chunks stay for an hour, and a commit that refers to it restores it.
struct ServerValues: ExternalStorage {
  private let owner: WeakBackend

  init(_ backend: PostgreSQLBackend) { owner = WeakBackend(backend) }

  /// Creates a value.
  func create(_ id: ExternalID) throws(StoreError) -> any ExternalOutput {
    let backend = try owner.get()
    if backend.isReadOnly { throw StoreError.readOnly(at: backend.location) }
    // A value that was removed, or for which the answer was lost, is begun again.
    try backend.runValues(
      """
      insert into stored_objects.external_values (store, id) values ($1, $2)
      on conflict (store, id) do update set byte_count = null, created = now(), removed = null
      """, id)
    return ServerValueOutput(id, owner)
  }

  /// Opens a value, whose chunks remain readable for an hour after it is removed.
  func open(_ reference: ExternalReference) throws(StoreError) -> any ExternalInput {
    let backend = try owner.get()
    let result = try backend.runValues(
      """
      select byte_count from stored_objects.external_values
      where store = $1 and id = $2 and removed is null and byte_count is not null
      """, reference.id)
    guard result.rowCount > 0 else { throw backend.valueGone() }
    guard result.int(0, 0) == Int64(reference.byteCount) else {
      throw backend.damagedValue("The value has another size.")
    }
    return ServerValueInput(reference, owner)
  }

  /// Does nothing, because a finished value is as safe as a commit.
  func synchronize() throws(StoreError) { try owner.get().checkOpen() }

  /// Marks a value as removed, unless a row of another machine refers to it by now.
  func remove(_ id: ExternalID) throws(StoreError) {
    let backend = try owner.get()
    // The check sees all commits up to this number, and `listed` rules out that a later one has
    // restored the value.
    let number = try backend.poll()
    if try ExternalCatalogue(backend).isReferenced(id) { return }
    try backend.runValues(
      """
      update stored_objects.external_values set removed = now()
      where store = $1 and id = $2 and removed is null and listed <= $3
      """, id, [.int(number)])
  }

  /// Returns the values that exist and are not marked as removed.
  func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)] {
    let backend = try owner.get()
    let result = try backend.run([
      Statement(
        """
        select v.id, coalesce(sum(octet_length(c.data)), 0)::bigint
        from stored_objects.external_values v
          left join stored_objects.external_chunks c on c.store = v.store and c.id = v.id
        where v.store = $1 and v.removed is null group by v.id
        """, [.int4(backend.storeID)])
    ])[0]
    return try backend.reading { () throws(ServerFailure) in
      try (0..<result.rowCount).map { (row) throws(ServerFailure) in
        guard let id = ExternalID(bytes: result.bytes(row, 0)) else {
          throw ServerFailure.unexpectedAnswer
        }
        return (id, Int(try result.number(row, 1)))
      }
    }
  }
}

/// A weak reference to a backend, for objects that it owns.
final class WeakBackend: Sendable {
  private weak let backend: PostgreSQLBackend?
  init(_ backend: PostgreSQLBackend) { self.backend = backend }

  func get() throws(StoreError) -> PostgreSQLBackend {
    if let backend { return backend }
    throw StoreError(.closed, "The backend has been closed.")
  }
}

/// A value that is being written.
final class ServerValueOutput: ExternalOutput {
  private let id: ExternalID
  private let owner: WeakBackend
  private let progress = Locked(Progress())

  private struct Progress {
    var chunkCount = 0
    var byteCount = 0
    var isFinished = false
  }

  fileprivate init(_ id: ExternalID, _ owner: WeakBackend) {
    (self.id, self.owner) = (id, owner)
  }

  deinit {
    if progress.withLock(\.isFinished) { return }
    // If that fails, a later opening removes the value, after a day.
    _ = try? owner.get().runValues(
      "delete from stored_objects.external_values where store = $1 and id = $2", id)
  }

  func append(_ chunk: [UInt8]) throws(StoreError) {
    let backend = try owner.get()
    let number = progress.withLock(\.chunkCount)
    let stored = try ExternalFileFormat.stored(chunk, number, of: id, backend.sealing?.sealing)
    // The same chunk is sent again if the answer was lost.
    try backend.runValues(
      """
      insert into stored_objects.external_chunks (store, id, number, data) values ($1, $2, $3, $4)
      on conflict (store, id, number) do update set data = excluded.data
      """, id, [.int(number), .bytes(stored)])
    progress.withLock { progress in
      progress.chunkCount += 1
      progress.byteCount += chunk.count
    }
  }

  func finish() throws(StoreError) {
    let byteCount = progress.withLock(\.byteCount)
    try owner.get().runValues(
      "update stored_objects.external_values set byte_count = $3 where store = $1 and id = $2", id,
      [.int(byteCount)])
    progress.withLock { $0.isFinished = true }
  }
}

/// A value that is open for reading.
final class ServerValueInput: ExternalInput {
  private let reference: ExternalReference
  private let owner: WeakBackend

  fileprivate init(_ reference: ExternalReference, _ owner: WeakBackend) {
    (self.reference, self.owner) = (reference, owner)
  }

  func chunk(_ number: Int) throws(StoreError) -> [UInt8] {
    let backend = try owner.get()
    let result = try backend.runValues(
      """
      select data from stored_objects.external_chunks
      where store = $1 and id = $2 and number = $3
      """, reference.id, [.int(number)])
    guard result.rowCount > 0 else { throw backend.valueGone() }
    let count = ExternalChunks.byteCount(of: number, in: reference.byteCount)
    let chunk = ExternalFileFormat.chunk(
      result.bytes(0, 0), number, of: reference.id, backend.sealing?.sealing)
    if let chunk, chunk.count == count { return chunk }
    if backend.sealing != nil { throw ServerFailure.notAuthentic.error(at: backend.location) }
    throw backend.damagedValue("The checksum is wrong: this is not what was saved.")
  }
}

extension PostgreSQLBackend {
  /// The storage of values that are too large for records: on the server, in chunks.
  public var externalStorage: (any ExternalStorage)? { ServerValues(self) }

  /// Runs a statement about a value, with the store as `$1` and the value as `$2`.
  @discardableResult
  fileprivate func runValues(
    _ text: String, _ id: ExternalID, _ parameters: [Parameter] = []
  ) throws(StoreError) -> QueryResult {
    try run([Statement(text, [.int4(storeID), .uuid(id)] + parameters)])[0]
  }

  func valueGone() -> StoreError {
    StoreError(
      .recordMissing,
      """
      The value is gone: another store has removed it since the object was read. Fetch the object \
      again.
      """, at: .init(path: location))
  }

  fileprivate func damagedValue(_ message: String) -> StoreError {
    StoreError(.damaged, message, at: .init(path: location))
  }

  /// Removes the values that are no longer needed.
  ///
  /// These are:
  /// - values that were removed more than an hour ago
  /// - values that are older than a day and that no commit refers to
  /// - values that no row has referred to for a day, because their last user ended without removing
  ///   them
  ///
  /// One round trip if there are none of the last kind. If removing fails, the next opening tries
  /// again.
  func removeOldValues() {
    if isReadOnly { return }
    let statements = [
      Statement(
        """
        delete from stored_objects.external_values where store = $1
          and (removed is not null and removed < now() - interval '1 hour'
            or listed = 0 and created < now() - interval '1 day')
        """, [.int4(storeID)]),
      Statement(
        """
        select id from stored_objects.external_values where store = $1 and removed is null
          and dropped < now() - interval '1 day'
        """, [.int4(storeID)]),
    ]
    let results = try? run(statements)
    guard let dropped = results?[1] else { return }
    for row in 0..<dropped.rowCount {
      guard let id = ExternalID(bytes: dropped.bytes(row, 0)) else { continue }
      do {
        // Does nothing to a value to which another row refers.
        try externalStorage?.remove(id)
        try runValues(
          """
          update stored_objects.external_values set dropped = null where store = $1 and id = $2
          """, id)
      } catch { return }
    }
  }
}
