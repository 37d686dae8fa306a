import Files
import Locks

/// Finds out what other processes commit as soon as they do, on a thread of its own, while somebody
/// in this process wants to know.
final class NewsWatcher: Sendable {
  private let file: SharedFile
  private let refresh: @Sendable () -> Void
  private let thread = ObserverThread()
  /// After this time it looks by itself: a process may die before it wakes others.
  private static let longestWait = Duration.milliseconds(200)

  /// Makes a watcher that does nothing yet.
  ///
  /// - Parameters:
  ///   - file: What the processes have in common.
  ///   - refresh: Reads what there is.
  init(_ file: SharedFile, refresh: @escaping @Sendable () -> Void) {
    (self.file, self.refresh) = (file, refresh)
  }

  /// Begins to watch, or goes on for one more observer.
  func addObserver() { thread.addObserver { [self] isWanted in watch(isWanted) } }

  /// Ends for one observer; the thread ends with the last one.
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
