import Locks
import StoreEngine

/// Objects and lists that nobody holds any more, until they are freed one after the other.
///
/// An object that is freed would free those that only it holds, and these the next, each on top of
/// the stack of the one before. Objects put what they hold into the queue of their thread instead.
/// The first of them empties it, and so the stack stays flat however long a chain is.
final class ReleaseQueue {
  private static let queues = ThreadLocal { ReleaseQueue() }

  /// The queue of this thread.
  static var current: ReleaseQueue { queues.current }

  private var objects: [AnyObject] = []
  private var values: [Any] = []
  private var isEmptying = false

  func append(_ object: AnyObject) { objects.append(object) }

  func append(_ value: some Any) { values.append(value) }

  /// Frees what is in the queue, and what that puts into it, unless this is being done.
  func empty() {
    if isEmptying { return }
    isEmptying = true
    // The last one first: a chain never has more than one of its objects here.
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

  /// Ends the life of what it is given, outside of any access to the queue.
  @inline(never) private func release(_ value: consuming Any) {}
}
