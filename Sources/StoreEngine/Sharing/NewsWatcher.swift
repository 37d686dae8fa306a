import Files
import Locks

/// A thread that notices commits of other processes immediately, while this process has observers.
final class NewsWatcher: Sendable {
  private let file: SharedFile
  private let refresh: @Sendable () -> Void
  private let thread = ObserverThread()
  /// The maximum wait: a process may die before it wakes the others.
  private static let longestWait = Duration.milliseconds(200)

  /// Creates a watcher that does nothing yet.
  ///
  /// - Parameters:
  ///   - file: The shared state of the processes.
  ///   - refresh: Reads the new commits.
  init(_ file: SharedFile, refresh: @escaping @Sendable () -> Void) {
    (self.file, self.refresh) = (file, refresh)
  }

  /// Begins to watch, or adds an observer.
  func addObserver() { thread.addObserver { [self] isWanted in watch(isWanted) } }

  /// Removes an observer; the thread ends with the last one.
  func removeObserver() { thread.removeObserver { file.wakeObservers() } }

  private func watch(_ isWanted: () -> Bool) {
    file.beginObserving()
    defer { file.endObserving() }
    while isWanted() {
      let version = file.versionWord.load()
      refresh()
      if isWanted() { file.waitForNews(after: version, atMost: Self.longestWait) }
    }
  }
}
