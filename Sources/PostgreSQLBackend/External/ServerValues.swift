import Locks
public import StoreEngine

/// The values that are stored outside of records, on the server: a row for each value, and one for
/// each of its chunks.
///
/// Each call is a transaction of its own, so a value of any size takes the memory of one chunk. A commit
/// says which values its records refer to, and the server refuses it where one is gone. Other machines
/// may read a value that is removed, or be about to refer to it: its chunks stay for an hour, and a
/// commit that refers to it brings it back.
struct ServerValues: ExternalStorage {
  private let owner: WeakBackend

  /// The backend holds this.
  final class WeakBackend: Sendable {
    private weak let backend: PostgreSQLBackend?
    init(_ backend: PostgreSQLBackend) { self.backend = backend }

    func get() throws(StoreError) -> PostgreSQLBackend {
      if let backend { return backend }
      throw StoreError(.closed, "The backend has been closed.")
    }
  }

  init(_ backend: PostgreSQLBackend) { owner = WeakBackend(backend) }

  /// Begins a value.
  func create(_ id: ExternalID) throws(StoreError) -> any ExternalOutput {
    let backend = try owner.get()
    if backend.isReadOnly { throw StoreError.readOnly(at: backend.location) }
    // One that was removed, or whose answer was lost, begins once more.
    try backend.runValues(
      """
      insert into stored_objects.external_values (store, id) values ($1, $2)
      on conflict (store, id) do update set byte_count = null, created = now(), removed = null
      """, id)
    return ServerValueOutput(id, owner)
  }

  /// Opens a value, whose chunks stay readable for an hour when it is removed.
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

  /// Does nothing: what is finished is as safe as a commit.
  func synchronize() throws(StoreError) { try owner.get().pool.check() }

  /// Marks a value as removed, unless a row of another machine refers to it by now.
  func remove(_ id: ExternalID) throws(StoreError) {
    let backend = try owner.get()
    // The look sees all commits up to this one, and none behind it has brought the value back.
    let number = try backend.poll()
    if try ExternalCatalogue(backend).isReferenced(id) { return }
    try backend.runValues(
      """
      update stored_objects.external_values set removed = now()
      where store = $1 and id = $2 and removed is null and listed <= $3
      """, id, [.int(number)])
  }

  /// The values that are there and not marked as removed.
  func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)] {
    let backend = try owner.get()
    let result = try backend.perform { (connection) throws(ServerFailure) in
      try connection.run([
        Statement(
          """
          select v.id, coalesce(sum(octet_length(c.data)), 0)::bigint
          from stored_objects.external_values v
            left join stored_objects.external_chunks c on c.store = v.store and c.id = v.id
          where v.store = $1 and v.removed is null group by v.id
          """, [.int4(backend.storeID)])
      ])[0]
    }
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

/// A value that is being written.
final class ServerValueOutput: ExternalOutput {
  private let id: ExternalID
  private let owner: ServerValues.WeakBackend
  private let progress = Locked(Progress())

  private struct Progress {
    var chunkCount = 0
    var byteCount = 0
    var isFinished = false
  }

  fileprivate init(_ id: ExternalID, _ owner: ServerValues.WeakBackend) {
    (self.id, self.owner) = (id, owner)
  }

  deinit {
    if progress.withLock(\.isFinished) { return }
    // What can't be removed now is removed by an opening, a day later.
    _ = try? owner.get().runValues(
      "delete from stored_objects.external_values where store = $1 and id = $2", id)
  }

  func append(_ chunk: [UInt8]) throws(StoreError) {
    let backend = try owner.get()
    let number = progress.withLock(\.chunkCount)
    let stored = try ExternalFileFormat.stored(chunk, number, of: id, backend.sealing?.sealing)
    // The same once more where the answer was lost.
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
  private let owner: ServerValues.WeakBackend

  fileprivate init(_ reference: ExternalReference, _ owner: ServerValues.WeakBackend) {
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
  /// Where values are kept that are too large for records: on the server, in chunks.
  public var externalStorage: (any ExternalStorage)? { ServerValues(self) }

  /// Runs a statement about a value, with the store as `$1` and the value as `$2`.
  @discardableResult
  fileprivate func runValues(
    _ text: String, _ id: ExternalID, _ parameters: [Parameter] = []
  ) throws(StoreError) -> QueryResult {
    try perform { (connection) throws(ServerFailure) in
      try connection.run([Statement(text, [.int4(storeID), .uuid(id)] + parameters)])[0]
    }
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

  /// Removes what nobody needs: values that were removed an hour ago, those that no commit has referred
  /// to for a day, and those whose last holder has ended without removing them.
  ///
  /// One round trip where there are none of the last. What can't be removed now is removed by the next
  /// opening.
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
    let results = try? perform { (connection) throws(ServerFailure) in
      try connection.run(statements)
    }
    guard let dropped = results?[1] else { return }
    for row in 0..<dropped.rowCount {
      guard let id = ExternalID(bytes: dropped.bytes(row, 0)) else { continue }
      do {
        // Unless another row refers to it.
        try externalStorage?.remove(id)
        try runValues(
          """
          update stored_objects.external_values set dropped = null where store = $1 and id = $2
          """, id)
      } catch { return }
    }
  }
}
