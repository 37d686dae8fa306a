import Locks

/// Runs a closure on a thread with a stack of 512 KiB, and waits for its end.
public func onSmallStack<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
  let result = Locked<Result?>(nil)
  do {
    let thread = JoinedThread(stackSize: 512 << 10) {
      let value = body()
      result.withLock { $0 = value }
    }
    precondition(thread != nil, "The system has no thread left.")
  }
  guard let value = result.withLock({ $0 }) else { preconditionFailure("The thread has ended.") }
  return value
}
