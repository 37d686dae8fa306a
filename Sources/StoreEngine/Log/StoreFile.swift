package import Files
import Locks
import Synchronization

/// A file of a store that is read and written in place, held open: the commit log above all.
///
/// What is written is durable once `synchronize()` has returned, and not before: until then each
/// 512-byte sector may be old or new after a power cut. Calls come from one thread at a time. It is
/// closed at the latest when nobody holds it any more.
public final class StoreFile: Sendable {
  private let file: OpenFile
  private let isClosed = Atomic(false)
  /// Up to where the limit on the size of files is known to let us write.
  private let limitChecked = Atomic(0)
  private let direct = Locked(Direct.untried)

  /// The way past the system's cache.
  private enum Direct {
    case untried
    case open(DirectWriter)
    case unavailable
  }

  /// Opens a file; a missing one is made when it is to be writable.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - writable: Whether it is going to be written.
  ///   - rights: Those of a new file.
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package init(
    _ path: some FileAddress, writable: Bool, rights: FileRights = .anyone
  ) throws(StoreError) {
    file = try Self.errors { () throws(SystemError) in
      try openFile(path, writable: writable, rights: rights)
    }
  }

  /// Makes a file where there is none; a symbolic link is not followed.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package init(creating path: some FileAddress, rights: FileRights) throws(StoreError) {
    file = try Self.errors { () throws(SystemError) in try createFile(path, rights: rights) }
  }

  /// Runs calls of the operating system, and makes their errors those of a store.
  @inline(__always)
  private static func errors<Result>(
    _ body: () throws(SystemError) -> Result
  ) throws(StoreError) -> Result {
    do throws(SystemError) { return try body() } catch { throw StoreError(error) }
  }

  /// Which file it is.
  ///
  /// - Throws: ``StoreError`` with `ioError`.
  func identity() throws(StoreError) -> FileIdentity {
    try Self.errors { () throws(SystemError) in try FileStatus(file).identity }
  }

  /// Takes note that somebody else has written to the file.
  func noteForeignWrite() { forgetBlock() }

  /// The size in bytes.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func size() throws(StoreError) -> Int { try Self.errors(file.size) }

  /// Reads up to so many bytes; fewer at the end of the file.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    try Self.errors { () throws(SystemError) in try file.read(count, at: offset) }
  }

  /// Writes all of these bytes; the file grows if need be.
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

  /// Asks for the limit on the size of files some way ahead, so that few writes have to.
  private func checkLimit(_ end: Int) throws(SystemError) {
    if end <= limitChecked.load(ordering: .relaxed) { return }
    let ahead = end + (1 << 16)
    do throws(SystemError) {
      try checkFileSizeLimit(ahead, file.location.path)
      limitChecked.store(ahead, ordering: .relaxed)
    } catch { try checkFileSizeLimit(end, file.location.path) }
  }

  /// Writes all of these bytes within the file, and brings them, not what was written before, to
  /// the disk.
  ///
  /// What follows them in the file, up to a block of the disk, may become zero.
  ///
  /// - Returns: false, with nothing done, where that is no quicker than ``write(_:at:)`` and
  ///   ``synchronize()``.
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`. Nobody knows then what the disk holds.
  package func writeThrough(_ bytes: [UInt8], at offset: Int) throws(StoreError) -> Bool {
    try Self.errors { () throws(SystemError) in try writeDirectly(bytes, at: offset) }
  }

  private func writeDirectly(_ bytes: [UInt8], at offset: Int) throws(SystemError) -> Bool {
    try file.checkHasName()
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
    direct.withLock { if case .open(let writer) = $0 { writer.forget() } }
  }

  /// Grows the file with zeros, so that later writes change no metadata; or cuts it off.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func resize(to size: Int) throws(StoreError) {
    forgetBlock()
    try Self.errors { () throws(SystemError) in try file.resize(to: size) }
  }

  /// Brings what was written to the disk (`fdatasync`).
  ///
  /// - Throws: ``StoreError`` with `ioError` or `noSpace`.
  package func synchronize() throws(StoreError) { try Self.errors(file.synchronizeData) }

  /// Closes the file; closing twice is harmless.
  package func close() {
    if !isClosed.exchange(true, ordering: .acquiringAndReleasing) {
      direct.withLock { $0 = .unavailable }
      file.close()
    }
  }

  deinit { close() }
}
