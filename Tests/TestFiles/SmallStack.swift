import Locks

/// Runs a closure on a thread with a stack of 512 KiB, and waits for its end.
public func onSmallStack(_ body: @escaping @Sendable () -> Void) {
  let thread = JoinedThread(stackSize: 512 << 10, body)
  precondition(thread != nil, "The system has no thread left.")
}
