import Hummingbird
import StoredObjects

struct NewPlaylist: Codable, Sendable {
  var name: String
  var songs: [UInt32]
}

/// A move of a song to another position, in the same or another playlist.
struct Move: Codable, Sendable {
  var from: Int
  var to: Int
  var playlist: UInt32?
}

extension JukeboxService {
  func addPlaylists(to playlists: RouterGroup<BasicRequestContext>) {
    playlists.get(":id") { _, context in
      let id = try context.parameters.require("id", as: UInt32.self)
      return try await container.read { try PlaylistAnswer($0.playlist(id)) }
    }
    playlists.post { request, context in
      let new = try await request.decode(as: NewPlaylist.self, context: context)
      return try await container.write { store in
        let playlist = Playlist()
        playlist.name = new.name
        playlist.songs = try new.songs.map { try store.song($0) }
        store.insert(playlist)
        return PlaylistAnswer(playlist)
      }
    }
    playlists.post(":id/moves") { request, context in
      let id = try context.parameters.require("id", as: UInt32.self)
      let move = try await request.decode(as: Move.self, context: context)
      return try await container.write { store in
        let source = try store.playlist(id)
        let target = try move.playlist.map { try store.playlist($0) } ?? source
        guard source.songs.indices.contains(move.from) else { throw HTTPError(.badRequest) }
        let song = source.songs.remove(at: move.from)
        guard 0...target.songs.count ~= move.to else { throw HTTPError(.badRequest) }
        target.songs.insert(song, at: move.to)
        return PlaylistAnswer(target)
      }
    }
  }
}

extension Store {
  /// Returns the playlist with a row ID, or throws 404.
  func playlist(_ id: UInt32) throws -> Playlist {
    guard let playlist = try object(Playlist.self, rowID: id) else {
      throw HTTPError(.notFound)
    }
    return playlist
  }
}
