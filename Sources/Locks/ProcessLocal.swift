internal import CFiles
import Synchronization

/// An object for each process, created on its first use.
///
/// A forked child process makes its own, because the threads of its parent don't exist there, and a
/// lock that one of them held stays locked. The child never frees the object of its parent.
package final class ProcessLocal<Object: AnyObject & Sendable>: Sendable {
  private let first = AtomicLazyReference<Node>()
  private let make: @Sendable () -> Object

  /// The object of a process, followed by that of a child.
  private final class Node: Sendable {
    let process = files_process()
    let object: Object
    let next = AtomicLazyReference<Node>()

    init(_ object: Object) { self.object = object }
  }

  /// Creates an object that is made when it is needed.
  package init(_ make: @escaping @Sendable () -> Object) { self.make = make }

  /// The object of this process.
  ///
  /// Complexity: linear in the number of forks since the first process.
  package var current: Object {
    var last = first.load() ?? first.storeIfNil(Node(make()))
    while let next = last.next.load() { last = next }
    let process = files_process()
    while last.process != process { last = last.next.storeIfNil(Node(make())) }
    return last.object
  }
}
