import FlyingFox
import FlyingSocks
package import Foundation
import StoreEngine

/// The server of the page, for browsers on this machine that know its token.
package final class BrowserServer: Sendable {
  private let server: HTTPServer
  private let session: BrowserSession
  /// The secret in the URL.
  package let token = BrowserToken()

  /// The time in which a request has to be answered, in seconds.
  private static let timeout: TimeInterval = 60

  /// Creates a server for a store.
  ///
  /// - Parameters:
  ///   - session: The store.
  ///   - port: The port on 127.0.0.1; 0 chooses one that is free.
  /// - Throws: An error if there is no such address.
  package init(_ session: BrowserSession, port: UInt16 = 0) throws {
    self.session = session
    let handler = DeferredHandler()
    server = HTTPServer(
      address: try .inet(ip4: "127.0.0.1", port: port), timeout: Self.timeout,
      logger: .disabled, handler: handler)
    self.handler = handler
  }

  private let handler: DeferredHandler

  /// Serves requests until the task is cancelled.
  ///
  /// - Parameter onStart: Called with the URL of the page once it can be opened.
  /// - Throws: An error if the port can't be used.
  package func run(onStart: @escaping @Sendable (URL) -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [server] in try await server.run() }
      try await server.waitUntilListening(timeout: 10)
      guard case .ip4(_, let port)? = await server.listeningAddress else {
        throw BrowserFailure(description: "The server does not listen on 127.0.0.1.")
      }
      let guarding = RequestGuard(port: port, token: token)
      handler.set(PageHandler(guarding: guarding, session: session))
      if let url = URL(string: "http://127.0.0.1:\(port)/?token=\(token.text)") { onStart(url) }
      try await group.next()
      group.cancelAll()
    }
  }
}

/// A failure of the server, in words for its user.
package struct BrowserFailure: Error, CustomStringConvertible {
  /// A description of the failure.
  package let description: String
}
