#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An object for each thread, created on its first use, and freed with the thread.
///
/// `@unchecked Sendable`: the key is set once; a thread gets only its own object.
@safe package final class ThreadLocal<Object: AnyObject>: @unchecked Sendable {
  private let key: pthread_key_t
  private let make: @Sendable () -> Object

  /// Reserves a key for the lifetime of the process; the system has few of them.
  package init(_ make: @escaping @Sendable () -> Object) {
    var key = pthread_key_t()
    let number = unsafe pthread_key_create(&key) { unsafe releaseObject($0) }
    precondition(number == 0, "The process has used up its keys for thread-local values.")
    (self.key, self.make) = (key, make)
  }

  /// The object of this thread.
  ///
  /// Complexity: a call of the system's library.
  package var current: Object {
    if let object = unsafe pthread_getspecific(key) {
      return unsafe Unmanaged<Object>.fromOpaque(object).takeUnretainedValue()
    }
    let object = make()
    // Without memory to store the object, the next call creates another one.
    let held = unsafe Unmanaged.passRetained(object)
    if unsafe pthread_setspecific(key, held.toOpaque()) != 0 { unsafe held.release() }
    return object
  }
}

/// Releases the object of a thread that ends.
private func releaseObject(_ object: UnsafeMutableRawPointer?) {
  if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
}
