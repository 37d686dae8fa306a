import Locks

/// A signal that there are unsaved changes, for one waiting autosave.
final class EditSignal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func send() { continuation.yield() }

  func finish() { continuation.finish() }

  /// Waits for the next signal; false at the end.
  func wait(isolation: isolated (any Actor)? = #isolation) async -> Bool {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next(isolation: isolation) != nil
  }
}
