import Locks

/// The path of an open directory, which follows the directory when it is moved.
package struct DirectoryPath: ~Copyable, Sendable {
  private let path: Locked<String>

  /// Creates the path by which a directory is opened.
  package init(_ path: String) { self.path = Locked(path) }

  /// The present path.
  package var current: String { path.withLock { $0 } }

  /// Sets the path to which the directory has been moved.
  package func follow(to path: String) { self.path.withLock { $0 = path } }
}
