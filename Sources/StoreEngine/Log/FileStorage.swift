package import Files
import Locks
import Synchronization

/// A file of the operating system, held open.
///
/// It is closed at the latest when nobody holds it any more.
package final class FileStorage: Storage {
  private let descriptor: Int32
  private let location: FileLocation
  private let path: String
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
  ///   - file: Its address.
  ///   - writable: Whether it is going to be written.
  ///   - rights: Those of a new file.
  /// - Throws: `SystemError`.
  package init(
    _ file: some FileAddress, writable: Bool, rights: FileRights = .anyone
  ) throws(SystemError) {
    (location, path) = (file.location, file.location.path)
    descriptor = try openFile(file, writable: writable, rights: rights)
  }

  /// Makes a file where there is none; a symbolic link is not followed.
  package init(creating file: some FileAddress, rights: FileRights) throws(SystemError) {
    (location, path) = (file.location, file.location.path)
    descriptor = try createFile(file, rights: rights)
  }

  package func size() throws -> Int { try fileSize(descriptor, path) }

  package func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    try readFile(descriptor, path, count, at: offset)
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws {
    try checkFileHasName(descriptor, path)
    forgetBlock()
    try checkLimit(offset + bytes.count)
    try bytes.lend { (bytes) throws(SystemError) in
      try writeWithinLimit(descriptor, path, bytes, at: offset)
    }
  }

  /// Asks for the limit on the size of files some way ahead, so that few writes have to.
  private func checkLimit(_ end: Int) throws(SystemError) {
    if end <= limitChecked.load(ordering: .relaxed) { return }
    let ahead = end + (1 << 16)
    do throws(SystemError) {
      try checkFileSizeLimit(ahead, path)
      limitChecked.store(ahead, ordering: .relaxed)
    } catch { try checkFileSizeLimit(end, path) }
  }

  package func writeThrough(_ bytes: [UInt8], at offset: Int) throws -> Bool {
    try checkFileHasName(descriptor, path)
    return try direct.withLock { direct in
      if case .untried = direct {
        direct = DirectWriter(location, sameAs: descriptor).map { .open($0) } ?? .unavailable
      }
      guard case .open(let writer) = direct else { return false }
      let isDone = try writer.write(bytes, at: offset) { count, offset in
        try readFile(descriptor, path, count, at: offset)
      }
      if !isDone { direct = .unavailable }
      return isDone
    }
  }

  private func forgetBlock() {
    direct.withLock { if case .open(let writer) = $0 { writer.forget() } }
  }

  package func resize(to size: Int) throws {
    forgetBlock()
    try resizeFile(descriptor, path, to: size)
  }

  package func synchronize() throws { try syncData(descriptor, path) }

  package func close() {
    if !isClosed.exchange(true, ordering: .acquiringAndReleasing) {
      direct.withLock { $0 = .unavailable }
      closeFile(descriptor)
    }
  }

  deinit { close() }
}
