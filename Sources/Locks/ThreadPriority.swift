#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The priority of a thread when processors are busy.
package enum ThreadPriority {
  private static let leastNiceness: Int32 = 10

  /// Gives other threads priority over this one and those that it starts.
  ///
  /// It has an effect only if the system supports priorities of single threads.
  package static func lower() {
    #if canImport(Glibc)
      // On Linux, 0 means the calling thread.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, leastNiceness)
    #endif
  }

  /// Whether this thread has a lower priority than the main thread.
  static var isLowered: Bool {
    #if canImport(Glibc)
      let which = __priority_which_t(PRIO_PROCESS.rawValue)
      return getpriority(which, 0) > getpriority(which, id_t(getpid()))
    #else
      return false
    #endif
  }
}
