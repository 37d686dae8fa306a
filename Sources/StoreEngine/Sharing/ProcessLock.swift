import Locks

/// The commit lock of a process that shares a store: held by any number of its threads at once, and
/// by one process at a time.
///
/// It is taken before every other lock of the backend. The first thread of a process that gets it
/// finds out what others have committed, before any thread goes on.
final class ProcessLock: Sendable {
  let file: SharedFile
  private let hold = Locked(Hold())
  /// A process gives the lock to another one after this time.
  private static let longestHold = Duration.milliseconds(10)

  private struct Hold {
    var count = 0
    /// Whether a thread takes the lock, or gives it back.
    var isChanging = false
    var start = ContinuousClock.now
  }

  /// Begins with the lock held, as the opening of the file has taken it.
  init(_ file: SharedFile) {
    self.file = file
    hold.withLock { $0.count = 1 }
  }

  /// Takes the lock for this thread, which may have it already.
  ///
  /// - Parameter catchUp: Finds out what others have committed; called where the process did not
  ///   have the lock.
  /// - Throws: ``StoreError`` with `inUse` or `ioError`; what the closure throws.
  func lock(_ catchUp: () throws(StoreError) -> Void) throws(StoreError) {
    let isHeld = hold.change(once: { !$0.isChanging }) { hold in
      if hold.count > 0 { hold.count += 1 } else { hold.isChanging = true }
      return !hold.isChanging
    }
    if isHeld { return }
    do {
      try file.lock()
    } catch {
      hold.change { $0.isChanging = false }
      throw error
    }
    do {
      try catchUp()
    } catch {
      file.unlock()
      hold.change { $0.isChanging = false }
      throw error
    }
    hold.change { $0 = Hold(count: 1) }
  }

  /// Waits until other processes can have the lock, where they want it and this one has had it for
  /// long.
  ///
  /// The thread must hold nothing that those wait for who have the lock.
  func yield() {
    guard file.isWanted else { return }
    let isLate = hold.withLock { $0.count > 0 && $0.start.duration(to: .now) > Self.longestHold }
    if isLate { hold.change(once: { $0.count == 0 && !$0.isChanging }) { _ in } }
  }

  /// Gives the lock back for one thread.
  func unlock() {
    let isLast = hold.change { hold in
      hold.count -= 1
      if hold.count == 0 { hold.isChanging = true }
      return hold.count == 0
    }
    guard isLast else { return }
    file.unlock()
    hold.change { $0.isChanging = false }
  }

  /// Whether this process has the lock.
  var isHeld: Bool { hold.withLock { $0.count > 0 } }
}
