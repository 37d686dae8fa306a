#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// How much of the processor a thread gets where there is not enough for all.
package enum ThreadPriority {
  private static let leastNiceness: Int32 = 10

  /// Has other threads go before this one, and before those that it starts, as far as the system
  /// can do that for single threads.
  package static func lower() {
    #if canImport(Glibc)
      // On Linux 0 stands for the calling thread.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, leastNiceness)
    #endif
  }
}
