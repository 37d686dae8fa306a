import Locks
import StoreEngine

/// Objects and lists that have no other references, waiting to be freed one after the other.
///
/// Freeing an object would free those that only it references, and so on, each one deeper on the
/// stack. Instead, objects move their references into the queue of their thread. The first of them
/// empties the queue, so the stack depth does not depend on the length of a chain.
final class ReleaseQueue {
  private static let queues = ThreadLocal { ReleaseQueue() }

  /// The queue of the current thread.
  static var current: ReleaseQueue { queues.current }

  private var objects: [AnyObject] = []
  private var values: [Any] = []
  private var isEmptying = false

  func append(_ object: AnyObject) { objects.append(object) }

  func append(_ value: some Any) { values.append(value) }

  /// Frees everything in the queue, including what that adds, unless it is already being emptied.
  func empty() {
    if isEmptying { return }
    isEmptying = true
    // Last in, first out: a chain then never has more than one object in the queue.
    while true {
      if let object = objects.popLast() {
        release(object)
      } else if let value = values.popLast() {
        release(value)
      } else {
        break
      }
    }
    isEmptying = false
    if objects.capacity > 4_096 { objects = [] }
    if values.capacity > 4_096 { values = [] }
  }

  /// Ends the lifetime of a value, outside of any access to the queue.
  @inline(never) private func release(_ value: consuming Any) {}
}
