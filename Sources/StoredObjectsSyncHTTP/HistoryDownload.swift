import Foundation
import Locks

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The body of an answer that does not end, as it comes.
///
/// URLSession can't make a server wait. So the bytes that wait are counted, and too many are an
/// error behind all of them.
final class HistoryDownload: NSObject, URLSessionDataDelegate, Sendable {
  /// The parts of the body.
  ///
  /// Ending the iteration ends the connection.
  let parts: AsyncThrowingStream<[UInt8], any Error>
  private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let waiting = Locked(Waiting())

  private struct Waiting {
    var byteCount = 0
    var limit = Int.max
  }

  /// Begins a request.
  init(_ request: URLRequest) {
    (parts, continuation) = AsyncThrowingStream.makeStream()
    super.init()
    let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
    let task = session.dataTask(with: request)
    continuation.onTermination = { _ in
      task.cancel()
      session.finishTasksAndInvalidate()
    }
    task.resume()
  }

  /// Notes that the reader has used bytes of ``parts``.
  func use(_ count: Int) { waiting.withLock { $0.byteCount -= count } }

  /// Sets the maximum number of bytes that wait; there is none before.
  func limit(to count: Int) { waiting.withLock { $0.limit = count } }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard let error = HTTPFollowerError(status: status) else { return completionHandler(.allow) }
    continuation.finish(throwing: HistoryStatus(status: status, error: error))
    completionHandler(.cancel)
  }

  /// Refuses redirections, so that the token does not reach another server.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    continuation.finish(throwing: HTTPFollowerError.refused(status: response.statusCode))
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooMuch = waiting.withLock { waiting in
      waiting.byteCount += data.count
      // A single part is never too large.
      return waiting.byteCount > waiting.limit && waiting.byteCount > data.count
    }
    if isTooMuch { return continuation.finish(throwing: HTTPFollowerError.tooFast) }
    continuation.yield(Array(data))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    continuation.finish(throwing: error)
  }
}

/// A status other than 200.
struct HistoryStatus: Error {
  let status: Int
  let error: HTTPFollowerError
}
