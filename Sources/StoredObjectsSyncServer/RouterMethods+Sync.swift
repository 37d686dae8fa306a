#if SyncServer
  public import Hummingbird
  import NIOCore
  public import StoredObjectsSync

  extension RouterMethods {
    /// Adds the route of a sync server.
    ///
    ///     let server = try SyncServer(container)
    ///     router.addSync(server) { token in await devices.device(of: token) }
    ///
    /// Devices connect to it with `HTTPSyncTransport`. Put TLS in front of the server, or use
    /// `HummingbirdTLS`: tokens and objects are sent as they are.
    ///
    /// - Parameters:
    ///   - server: The server of the store.
    ///   - path: The path of the route.
    ///   - rate: The limit of each device.
    ///   - authenticate: Returns the device that a token belongs to; nil for a token that is not
    ///     known, which gets the status 401. Compare tokens, or better their hashes, in constant
    ///     time.
    public func addSync(
      _ server: SyncServer, at path: RouterPath = "sync", rate: SyncRate = SyncRate(),
      authenticate: @escaping @Sendable (_ token: String) async throws -> SyncDevice?
    ) {
      let limiter = RateLimiter(rate)
      post(path) { request, _ -> Response in
        guard let token = request.bearerToken, let device = try await authenticate(token) else {
          throw HTTPError(.unauthorized)
        }
        guard await limiter.allows(device.id) else { throw HTTPError(.tooManyRequests) }
        // Refused before it is read as a whole.
        let body = try await request.body.collect(upTo: server.limits.requestByteCount)
        return Self.answer(Array(body.readableBytesView), from: device, by: server)
      }
    }

    private static func answer(
      _ request: [UInt8], from device: SyncDevice, by server: SyncServer
    ) -> Response {
      let body = ResponseBody { writer in
        let (parts, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let task = Task {
          await server.answer(request, from: device) { bytes in continuation.yield(bytes) }
          continuation.finish()
        }
        defer { task.cancel() }
        for await part in parts { try await writer.write(ByteBuffer(bytes: part)) }
        try await writer.finish(nil)
      }
      return Response(
        status: .ok,
        headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"], body: body)
    }
  }
#endif
