package import Files
import Locks
import Synchronization

/// An open file of a store that is read and written in place, such as the commit log.
///
/// Written bytes are durable only once `synchronize()` has returned: until then each 512-byte
/// sector may be old or new after a power cut. Call it from one thread at a time. The file is
/// closed at the latest when the object is released.
public final class StoreFile: Sendable {
  private let file: OpenFile
  private let isClosed = Atomic(false)
  /// The offset up to which the limit on file sizes is known to allow writes.
  private let limitChecked = Atomic(0)
  private let direct = Locked(Direct.untried)
  /// Whether the cache has ever been passed; a lock would cost more than this at each write.
  private let isDirect = Atomic(false)

  /// The state of writing past the system's cache.
  private enum Direct {
    case untried
    case open(DirectWriter)
    case unavailable
  }

  /// Opens a file; creates a missing one if it is writable.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - writable: Whether the file will be written.
  ///   - rights: The permissions of a new file.
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package init(
    _ path: some FileAddress, writable: Bool, rights: FileRights = .anyone
  ) throws(StoreError) {
    file = try Self.errors { () throws(SystemError) in
      try openFile(path, writable: writable, rights: rights)
    }
  }

  /// Creates a file, which must not exist; does not follow a symbolic link.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package init(creating path: some FileAddress, rights: FileRights) throws(StoreError) {
    file = try Self.errors { () throws(SystemError) in try createFile(path, rights: rights) }
  }

  /// Runs system calls, and converts their errors to store errors.
  @inline(__always)
  private static func errors<Result>(
    _ body: () throws(SystemError) -> Result
  ) throws(StoreError) -> Result {
    do throws(SystemError) { return try body() } catch { throw StoreError(error) }
  }

  /// Returns the identity of the file.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func identity() throws(StoreError) -> FileIdentity {
    try Self.errors { () throws(SystemError) in try FileStatus(file).identity }
  }

  /// Records that another process has written to the file.
  func noteForeignWrite() { forgetBlock() }

  /// Returns the size in bytes.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func size() throws(StoreError) -> Int { try Self.errors(file.size) }

  /// Reads the given number of bytes, or fewer at the end of the file.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try Self.errors { () throws(SystemError) in try file.read(count, at: offset) }
  }

  /// Writes bytes; the file grows if necessary.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
    try Self.errors { () throws(SystemError) in
      try file.checkHasName()
      forgetBlock()
      try checkLimit(offset + bytes.count)
      try bytes.lend { (bytes) throws(SystemError) in
        try file.writeWithinLimit(bytes, at: offset)
      }
    }
  }

  /// Checks the limit on file sizes some way ahead, so that few writes have to.
  private func checkLimit(_ end: Int) throws(SystemError) {
    if end <= limitChecked.load(ordering: .relaxed) { return }
    let ahead = end + (1 << 16)
    do throws(SystemError) {
      try checkFileSizeLimit(ahead, file.location.path)
      limitChecked.store(ahead, ordering: .relaxed)
    } catch { try checkFileSizeLimit(end, file.location.path) }
  }

  /// Writes bytes within the file and syncs them, but not what was written before.
  ///
  /// Bytes after them in the file, up to a block of the disk, may become zero.
  ///
  /// - Returns: false, with nothing done, if it would not be faster than ``write(_:at:)`` and
  ///   ``synchronize()``.
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`. The state of the disk is unknown then.
  package func writeThrough(_ bytes: [UInt8], at offset: Int) throws(StoreError) -> Bool {
    try Self.errors { () throws(SystemError) in try writeDirectly(bytes, at: offset) }
  }

  private func writeDirectly(_ bytes: [UInt8], at offset: Int) throws(SystemError) -> Bool {
    try file.checkHasName()
    isDirect.store(true, ordering: .relaxed)
    return try direct.withLock { (direct) throws(SystemError) in
      if case .untried = direct {
        direct = DirectWriter(file).map { .open($0) } ?? .unavailable
      }
      guard case .open(let writer) = direct else { return false }
      let isDone = try writer.write(bytes, at: offset) {
        (count, offset) throws(SystemError) in
        try file.read(count, at: offset)
      }
      if !isDone { direct = .unavailable }
      return isDone
    }
  }

  private func forgetBlock() {
    guard isDirect.load(ordering: .relaxed) else { return }
    direct.withLock { if case .open(let writer) = $0 { writer.forget() } }
  }

  /// Grows the file with zeros, so that later writes change no metadata, or truncates it.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func resize(to size: Int) throws(StoreError) {
    forgetBlock()
    try Self.errors { () throws(SystemError) in try file.resize(to: size) }
  }

  /// Syncs the written data (`fdatasync`).
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func synchronize() throws(StoreError) { try Self.errors(file.synchronizeData) }

  /// Closes the file; closing it twice has no effect.
  package func close() {
    if !isClosed.exchange(true, ordering: .acquiringAndReleasing) {
      direct.withLock { $0 = .unavailable }
      file.close()
    }
  }

  deinit { close() }
}
