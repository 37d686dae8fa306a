public import Foundation
public import StoredObjectsSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A connection that carries the requests of a device over HTTP, each as the body of a POST.
///
///     let transport = HTTPSyncTransport(
///       URL(string: "https://example.org/sync")!, token: token)
///
/// Use HTTPS outside of your own machine: the token and the objects are sent as they are.
public struct HTTPSyncTransport: SyncTransport {
  private let url: URL
  private let token: String
  private let timeout: TimeInterval

  /// Creates a connection; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - url: The address of the server.
  ///   - token: The secret of the device, sent as a bearer token.
  ///   - timeout: The number of seconds without any bytes after which a request fails.
  public init(_ url: URL, token: String, timeout: TimeInterval = 60) {
    (self.url, self.token, self.timeout) = (url, token, timeout)
  }

  /// Sends a request, and passes the bytes of the answer on as they come.
  ///
  /// Complexity: one round trip, on a new connection; linear in the size of the request and of the
  /// answer.
  ///
  /// - Throws: ``HTTPSyncError`` for a status other than 200, or an error of the connection.
  public func send(
    _ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void
  ) async throws {
    var post = URLRequest(url: url, timeoutInterval: timeout)
    post.httpMethod = "POST"
    post.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    post.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
    post.httpBody = Data(request)
    let (parts, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    let session = URLSession(
      configuration: .ephemeral, delegate: Exchange(continuation), delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    let task = session.dataTask(with: post)
    continuation.onTermination = { _ in task.cancel() }
    task.resume()
    for try await part in parts { try await receive(part) }
    try Task.checkCancellation()
  }
}

/// An answer of a server that is none of a sync.
public struct HTTPSyncError: Error, CustomStringConvertible {
  /// The status: 401 for a token that the server does not know, 413 for a request that is too large,
  /// 429 for too many requests.
  public let status: Int

  /// The status, and what to do.
  public var description: String {
    switch status {
    case 401, 403: "The server does not accept the token (\(status))."
    case 413: "The request is too large for the server (413): use a smaller requestByteCount."
    case 429: "The server gets too many requests (429): try again later."
    default: "The server has answered with status \(status)."
    }
  }
}

/// One request of a session.
private final class Exchange: NSObject, URLSessionDataDelegate, Sendable {
  private let parts: AsyncThrowingStream<[UInt8], any Error>.Continuation

  init(_ parts: AsyncThrowingStream<[UInt8], any Error>.Continuation) { self.parts = parts }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    if status == 200 { return completionHandler(.allow) }
    parts.finish(throwing: HTTPSyncError(status: status))
    completionHandler(.cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    parts.yield(Array(data))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    parts.finish(throwing: error)
  }
}
