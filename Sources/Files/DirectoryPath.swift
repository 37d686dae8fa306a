import Locks
import Synchronization

/// The path of an open directory, which follows the directory when it is moved.
///
/// Most directories are never moved: their path needs neither a lock nor memory of its own.
package struct DirectoryPath: ~Copyable, Sendable {
  private let original: String
  private let moved = AtomicLazyReference<SharedLock<String>>()

  /// Creates the path by which a directory is opened.
  package init(_ path: String) { original = path }

  /// The present path.
  package var current: String { moved.load()?.withLock { $0 } ?? original }

  /// Sets the path to which the directory has been moved.
  package func follow(to path: String) { moved.storeIfNil(SharedLock(path)).withLock { $0 = path } }
}
