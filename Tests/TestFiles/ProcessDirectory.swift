import Files
import Foundation
import Locks
import Synchronization

/// The directory that contains all temporary directories of this process.
///
/// It is locked for as long as the process lives, however the process ends. So the next process
/// recognizes unused directories, and removes them. A process ID would not be enough, because it
/// may be reused, and means something else in another container.
final class ProcessDirectory: Sendable {
  private static let prefix = "stored-objects-tests-"

  let path: String
  private let lock: DirectoryHandle
  private let count = Atomic(0)

  private static let onDisk = Result { try ProcessDirectory(in: TemporaryLocation.disk.path) }
  private static let inMemory = Result { try ProcessDirectory(in: TemporaryLocation.memory.path) }

  /// Returns the directory in a location, created when it is first needed.
  static func of(_ parent: TemporaryLocation) throws -> ProcessDirectory {
    switch parent {
    case .disk: try onDisk.get()
    case .memory: try inMemory.get()
    }
  }

  init(in parent: String) throws {
    try Self.removeLeftovers(in: parent)
    let name = "\(ProcessInfo.processInfo.processIdentifier)-\(UInt32.random(in: 0 ... .max))"
    path = "\(parent)/\(Self.prefix)\(name)"
    // Nobody else sees it before it is locked: the directory is renamed after the lock, which it
    // keeps.
    let start = "\(parent)/.\(name)"
    try makeDirectories(start)
    lock = try DirectoryHandle(start, shared: false)
    try renameFile(start, path)
    removeAtExit(path)
  }

  /// Returns the path of the next directory.
  func nextPath() -> String { "\(path)/\(count.add(1, ordering: .relaxed).newValue)" }

  /// Removes the directories of processes that have ended.
  static func removeLeftovers(in parent: String) throws {
    for name in try directoryEntries(parent) where name.hasPrefix(prefix) {
      let path = "\(parent)/\(name)"
      guard let lock = try? DirectoryHandle(path, shared: false) else { continue }
      // Directories of other users stay.
      withExtendedLifetime(lock) { try? FileManager.default.removeItem(atPath: path) }
    }
  }
}

/// The paths that a process removes when it exits normally.
private let pathsToRemove = Locked<[String]>([])

private func removeAtExit(_ path: String) {
  let isFirst = pathsToRemove.withLock { paths in
    paths.append(path)
    return paths.count == 1
  }
  guard isFirst else { return }
  atexit {
    for path in pathsToRemove.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
