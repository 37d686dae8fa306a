import FlyingFox
import Locks

/// A handler that is known only once the server has a port.
final class DeferredHandler: HTTPHandler {
  private let handler = Locked<PageHandler?>(nil)

  func set(_ new: PageHandler) { handler.withLock { $0 = new } }

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let handler = handler.withLock({ $0 }) else {
      return HTTPResponse(statusCode: .serviceUnavailable)
    }
    return await handler.respond(to: request)
  }
}
