import Locks
import Synchronization

/// A thread for the long work of a document: copies, archives and previews, one after the other.
///
/// The document holds it only while there is work.
final class DocumentThread: Sendable {
  private let queue = WorkQueue()

  /// Adds a closure; it runs on the calling thread if the system has no threads left.
  func add(_ body: @escaping @Sendable () -> Void) { if !queue.run(body) { body() } }

  /// Runs a closure, and waits for its result without blocking.
  ///
  /// If the task is cancelled, the flag is set.
  func run<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (CancelFlag) throws(DocumentError) -> Value
  ) async throws(DocumentError) -> Value {
    let flag = CancelFlag()
    let result: Result<Value, DocumentError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        add {
          let result: Result<Value, DocumentError>
          do throws(DocumentError) {
            result = .success(try body(flag))
          } catch {
            result = .failure(error)
          }
          continuation.resume(returning: result)
        }
      }
    } onCancel: {
      flag.cancel()
    }
    return try result.get()
  }
}

/// A flag that work checks between its steps.
final class CancelFlag: Sendable {
  private let isSet = Atomic(false)

  func cancel() { isSet.store(true, ordering: .relaxed) }

  /// Throws if the work is cancelled.
  func check(_ path: @autoclosure () -> String) throws(DocumentError) {
    if isSet.load(ordering: .relaxed) { throw DocumentError.cancelled(path()) }
  }
}

/// The progress of a copy, an export or an import.
public struct DocumentProgress: Sendable, Hashable {
  /// The number of bytes that are done.
  public let completedByteCount: Int
  /// The number of bytes in all.
  public let byteCount: Int
}
