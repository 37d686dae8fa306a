import Files
import Locks
import Synchronization

/// The external values of a store in a directory, one file each.
///
/// A file has its final name from the beginning. Until a commit refers to it, nothing looks it up,
/// and the next opening for writing removes it. Safe on any thread.
public final class ExternalFiles: ExternalStorage {
  private let directory: StoreDirectory
  private let knownSealing = Locked<Sealing?>(nil)
  private let syncs = Atomic(true)

  private var sealing: Sealing? { knownSealing.withLock { $0 } }
  private var isSynced: Bool { syncs.load(ordering: .relaxed) }

  /// Creates the access to files in a directory, which the backend has locked.
  public init(_ directory: StoreDirectory) { self.directory = directory }

  /// Sets how values are written; called before any is written.
  func use(_ sealing: Sealing?, _ durability: Durability) {
    knownSealing.withLock { $0 = sealing }
    syncs.store(durability == .full, ordering: .relaxed)
  }

  /// Whether the opening of the directory has seen any files of values.
  var mayHaveStrays: Bool { directory.hasValueFiles }

  /// Creates a file for a value.
  ///
  /// Complexity: constant time; creates a file.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `noSpace`, `ioError` or `closed`.
  public func create(_ id: ExternalID) throws(StoreError) -> any ExternalOutput {
    if directory.isReadOnly {
      throw StoreError.readOnly(at: directory.path)
    }
    let name = ExternalFileFormat.fileName(id)
    let file = try systemErrors(at: directory.path(name)) {
      try NewFile(directory.file(name), rights: directory.rights(ofNew: name))
    }
    return ExternalFileOutput(id, file, sealing: sealing, isSynced: isSynced)
  }

  /// Opens the file of a value.
  ///
  /// Complexity: one read of the file's header.
  ///
  /// - Throws: ``StoreError`` with `recordMissing`, `damaged`, `ioError` or `closed`.
  public func open(_ reference: ExternalReference) throws(StoreError) -> any ExternalInput {
    let location = try directory.file(ExternalFileFormat.fileName(reference.id))
    return try systemErrors(at: location.path) {
      guard try exists(location) else { throw Self.gone(location) }
      return try ExternalFileInput.open(reference, location, sealing)
    }
  }

  private static func gone(_ location: FileLocation) -> StoreError {
    StoreError(
      .recordMissing,
      """
      The value's file is gone: another store has removed the value since the object was read, or \
      the file is lost. Fetch the object again, or restore the file from a backup.
      """, at: .init(path: location.path))
  }

  /// Syncs the names in the directory, if the durability level requires it.
  ///
  /// Complexity: one sync of the directory, if the durability level requires it.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func synchronize() throws(StoreError) {
    if isSynced { try directory.synchronize() }
  }

  /// Removes the file of a value.
  ///
  /// If other processes have the store open, the file stays, because they may read it or be about
  /// to refer to it. The next exclusive opening removes it.
  ///
  /// Complexity: constant time; removes a file.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func remove(_ id: ExternalID) throws(StoreError) {
    if directory.shared == nil { try removeStray(id) }
  }

  /// Removes the file of a value that no row refers to.
  func removeStray(_ id: ExternalID) throws(StoreError) {
    let location = try directory.file(ExternalFileFormat.fileName(id))
    try systemErrors(at: location.path) { try removeFile(location) }
  }

  /// Verifies a file, which may belong to a damaged store.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `notAuthentic` or `ioError`.
  static func verify(
    _ id: ExternalID, _ location: FileLocation, _ sealing: Sealing?
  ) throws(StoreError) -> ExternalReference {
    let head = try systemErrors(at: location.path) {
      try firstBytes(of: location, count: ExternalFileFormat.headSize)
    }
    let byteCount = ExternalFileFormat.byteCount(inHead: head)
    let reference = ExternalReference(id: id, byteCount: byteCount, checksum: 0)
    let input = try ExternalFileInput.open(reference, location, sealing)
    var checksum = CRC32C()
    for number in 0..<ExternalChunks.count(byteCount) {
      let chunk = try input.chunk(number)
      checksum.update(chunk.span)
    }
    return ExternalReference(id: id, byteCount: byteCount, checksum: checksum.value)
  }

  /// Returns the values that have files.
  ///
  /// Complexity: linear in the number of files in the directory.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)] {
    var values: [(id: ExternalID, storedByteCount: Int)] = []
    for name in try directory.entries() {
      guard let id = ExternalFileFormat.id(ofFile: name) else { continue }
      values.append((id, try sizeOfFile(at: directory.file(name))))
    }
    return values
  }
}
