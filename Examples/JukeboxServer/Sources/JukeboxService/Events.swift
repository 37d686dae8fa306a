import Hummingbird
import NIOCore
import ServiceLifecycle
import StoredObjects

extension JukeboxService {
  /// Returns a response with each later save as server-sent events.
  ///
  /// It ends when the client disconnects or the server shuts down.
  func events(_ request: Request) throws -> Response {
    let changes = try container.committedChanges().cancelOnGracefulShutdown()
    let body = ResponseBody { writer in
      // Sends the head at once. The client gets all saves after it.
      try await writer.write(ByteBuffer(string: ": connected\n\n"))
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        for try await change in changes {
          for event in Self.events(of: change) { try await writer.write(ByteBuffer(string: event)) }
        }
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"], body: body)
  }

  /// Returns the events of a save, with the changed rows of each class.
  static func events(of change: StoreChanges) -> [String] {
    let songs: (String, StoredObject.Type) = ("songs", Song.self)
    return [songs, ("playlists", Playlist.self)].compactMap { name, type in
      let rows = change[type]
      if rows.isEmpty { return nil }
      return """
        event: \(name)
        data: {"inserted":\(rows.inserted),"updated":\(rows.updated),"deleted":\(rows.deleted)}


        """
    }
  }
}
