import Locks

/// The commit lock of a process that shares a store.
///
/// One process holds it at a time, with any number of its threads. It is taken before every other
/// lock of the backend. The first thread of a process that gets it reads the commits of other
/// processes, before any thread continues.
final class ProcessLock: Sendable {
  let file: SharedFile
  private let hold = Locked(Hold())
  /// The time after which a process passes the lock to another one.
  private static let longestHold = Duration.milliseconds(10)

  private struct Hold {
    var count = 0
    /// Whether a thread is taking or releasing the lock.
    var isChanging = false
    var start = ContinuousClock.now
  }

  /// Creates a lock that is held, because opening the file has taken it.
  init(_ file: SharedFile) {
    self.file = file
    hold.withLock { $0.count = 1 }
  }

  /// Takes the lock for this thread; the process may have it already.
  ///
  /// - Parameter catchUp: Reads the commits of other processes; called only if the process did not
  ///   have the lock.
  /// - Throws: ``StoreError`` with `inUse` or `ioError`, or an error of the closure.
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

  /// Lets other processes have the lock, if they wait and this process has held it for long.
  ///
  /// The calling thread must hold no lock that a holder of this lock waits for.
  func yield() {
    guard file.isWanted else { return }
    let isLate = hold.withLock { $0.count > 0 && $0.start.duration(to: .now) > Self.longestHold }
    if isLate { hold.change(once: { $0.count == 0 && !$0.isChanging }) { _ in } }
  }

  /// Releases the lock for one thread.
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
