import Files
import Locks
import Synchronization

/// The values of a store in a directory: one file for each.
///
/// A file gets its name when it is made. Until a commit refers to it nobody looks for it, and the
/// next opening for writing removes it. Safe on any threads.
public final class ExternalFiles: ExternalStorage {
  private let directory: StoreDirectory
  private let knownSealing = Locked<Sealing?>(nil)
  private let syncs = Atomic(true)

  private var sealing: Sealing? { knownSealing.withLock { $0 } }
  private var isSynced: Bool { syncs.load(ordering: .relaxed) }

  /// The files in a directory, which the backend has locked.
  public init(_ directory: StoreDirectory) { self.directory = directory }

  /// Sets how values are written; before any is.
  func use(_ sealing: Sealing?, _ durability: Durability) {
    knownSealing.withLock { $0 = sealing }
    syncs.store(durability == .full, ordering: .relaxed)
  }

  /// Whether the opening of the directory has seen any.
  var mayHaveStrays: Bool { directory.hasValueFiles }

  /// Makes a file for a value.
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
      the file is lost. Fetch the object again, or bring the file back from a backup.
      """, at: .init(path: location.path))
  }

  /// Brings the names in the directory to the disk, if saves are brought there.
  public func synchronize() throws(StoreError) {
    if isSynced { try directory.synchronize() }
  }

  /// Removes the file of a value.
  ///
  /// Other processes may read it, or be about to refer to it: where there are any it stays, and the
  /// next opening that is alone removes it.
  public func remove(_ id: ExternalID) throws(StoreError) {
    if directory.shared == nil { try removeStray(id) }
  }

  /// Removes the file of a value that no row refers to.
  func removeStray(_ id: ExternalID) throws(StoreError) {
    let location = try directory.file(ExternalFileFormat.fileName(id))
    try systemErrors(at: location.path) { try removeFile(location) }
  }

  /// Reads a file that need not be one of a store that opens.
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

  /// The values that have files.
  public func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)] {
    var values: [(id: ExternalID, storedByteCount: Int)] = []
    for name in try directory.entries() {
      guard let id = ExternalFileFormat.id(ofFile: name) else { continue }
      values.append((id, try sizeOfFile(at: directory.file(name))))
    }
    return values
  }
}
