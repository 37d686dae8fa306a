import Hummingbird
import Logging
public import StoredObjects
public import StoredObjectsSync
import StoredObjectsSyncServer

/// The music service: a container and its routes.
public struct JukeboxService: Sendable {
  let container: StoreContainer
  private let sync: SyncServer?
  private let devices: [String: SyncDevice]

  /// Opens the service on a backend.
  ///
  /// - Parameters:
  ///   - backend: The backend of the store.
  ///   - devices: The devices that may synchronize the store, by their tokens.
  ///   - logger: The logger of the store.
  /// - Throws: `StoreError`.
  public init(
    backend: any StoreBackend, devices: [String: SyncDevice] = [:], logger: Logger
  ) async throws {
    self.devices = devices
    container = try StoreContainer(
      backend: backend, classes: [Song.self, Playlist.self], configuration: .init(logger: logger))
    // Builds the indexes now, so that no request has to wait for them.
    try await container.makeActor().perform { try $0.buildIndexes() }
    // Synchronizing needs a history, and a store without devices needs none.
    sync = devices.isEmpty ? nil : try SyncServer(container)
  }

  /// Closes the backend when the current writes are finished.
  public func close() async throws { try await container.close() }

  /// The routes.
  public func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: StoreErrors())
    addSongs(to: router.group("songs"))
    addPlaylists(to: router.group("playlists"))
    addMaintenance(to: router)
    router.get("statistics/artists") { request, _ in
      try await topArtists(request.uri.queryParameters.get("limit", as: Int.self) ?? 20)
    }
    router.get("events") { request, _ in try events(request) }
    if let sync { router.addSync(sync) { [devices] token in devices[token] } }
    return router
  }
}

/// Turns errors of the store into answers with a status and a message.
struct StoreErrors<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as StoreError {
      context.logger.error("\(error)")
      throw HTTPError(Self.status(error.code))
    }
  }

  private static func status(_ code: StoreError.Code) -> HTTPResponse.Status {
    switch code {
    case .closed: .serviceUnavailable
    // Other servers on the store were always faster. The client may try again.
    case .conflict: .conflict
    default: .internalServerError
    }
  }
}
