#if SyncServer
  public import Hummingbird
  import NIOCore
  import ServiceLifecycle
  public import StoredObjectsSync

  extension RouterMethods {
    /// Adds the route that copies of a store follow.
    ///
    ///     let history = try HistoryServer(backend)
    ///     router.addHistory(history) { token in followers[token] }
    ///
    /// The answer to a GET is the history after a position, and then each commit as it is made, see
    /// ``/StoredObjectsSync/HistoryRequest``. `HTTPFollower` reads it, or `curl` with
    /// `stored-objects apply`. When the service shuts down gracefully, the streams end complete. A
    /// follower that takes no bytes holds up the shutdown until its connection ends, so set
    /// `maximumGracefulShutdownDuration` of the service group.
    ///
    /// Anyone with a follower's token can read the whole store and its history. So the tokens are a
    /// list of their own: don't pass those of sync devices. Put TLS in front of the server, or use
    /// `HummingbirdTLS`: tokens and records are sent as they are.
    ///
    /// - Parameters:
    ///   - server: The server of the store.
    ///   - path: The path of the route.
    ///   - rate: The limit of each follower.
    ///   - authenticate: Returns the name of the follower that a token belongs to; nil for a token
    ///     that is not known, which gets the status 401. Give each follower its own name and token:
    ///     a second stream of the same name ends the first. Compare tokens, or better their hashes,
    ///     in constant time.
    public func addHistory(
      _ server: HistoryServer, at path: RouterPath = "history",
      rate: SyncRate = SyncRate(requestsPerMinute: 60, burst: 30),
      authenticate: @escaping @Sendable (_ token: String) async throws -> String?
    ) {
      let limiter = RateLimiter(rate)
      get(path) { request, _ -> Response in
        guard let token = request.bearerToken, let follower = try await authenticate(token) else {
          throw HTTPError(.unauthorized)
        }
        guard await limiter.allows(follower) else {
          throw HTTPError(.tooManyRequests, headers: [.retryAfter: "10"])
        }
        do throws(HistoryRefusal) {
          let query = request.uri.queryParameters
          let position = try HistoryRequest { query.get($0) }
          return Self.answer(request, try await server.stream(position, for: follower))
        } catch {
          throw HTTPError(
            .init(code: error.status), headers: error.status == 503 ? [.retryAfter: "10"] : [:],
            message: error.description)
        }
      }
    }

    private static func answer(_ request: Request, _ stream: HistoryStream) -> Response {
      let body = ResponseBody { writer in
        try await withGracefulShutdownHandler {
          try await request.body.consumeWithCancellationOnInboundClose { _ in
            for try await bytes in stream { try await writer.write(ByteBuffer(bytes: bytes)) }
          }
        } onGracefulShutdown: {
          stream.end()
        }
        try await writer.finish(nil)
      }
      return Response(
        status: .ok,
        headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"], body: body)
    }
  }
#endif
