import Hummingbird
import HummingbirdTesting
import StoredObjects
import Testing

@testable import JukeboxService

@Suite("Invalid requests")
struct ErrorTests {
  @Test("Any request for a missing song or playlist gets 404")
  func missing() async throws {
    try await withService { client, service in
      try await client.expect(404, .get, "/songs/77")
      try await client.expect(404, .delete, "/songs/77")
      try await client.expect(404, .post, "/songs/77/plays")
      try await client.expect(404, .get, "/playlists/77")
      let move = Move(from: 0, to: 0, playlist: nil)
      try await client.expect(404, .post, "/playlists/77/moves", move)
      let new = NewPlaylist(name: "of nothing", songs: [77])
      try await client.expect(404, .post, "/playlists", new)
      #expect(try await service.container.read { try $0.count(of: Playlist.self) } == 0)
    }
  }

  @Test("Requests with invalid pages, rows, names or bodies get 400")
  func nonsense() async throws {
    try await withService { client, _ in
      try await client.expect(400, .get, "/songs?limit=0")
      try await client.expect(400, .get, "/songs?limit=1001")
      try await client.expect(400, .get, "/songs?offset=-1")
      try await client.expect(400, .get, "/songs/first")
      try await client.expect(400, .get, "/statistics/artists?limit=-1")
      try await client.expect(400, .post, "/backups/a.b")
      try await client.expect(400, .post, "/songs", ["title"])
    }
  }

  @Test("A move to a position that does not exist changes nothing")
  func move() async throws {
    try await withService { client, _ in
      let rows = try await client.addedSongs(3)
      let list: PlaylistAnswer = try await client.send(
        .post, "/playlists", NewPlaylist(name: "a", songs: rows))
      let other: PlaylistAnswer = try await client.send(
        .post, "/playlists", NewPlaylist(name: "b", songs: []))
      let uri = "/playlists/\(list.id)/moves"
      for move in [
        Move(from: 3, to: 0, playlist: nil), Move(from: 0, to: 3, playlist: nil),
        Move(from: -1, to: 0, playlist: nil), Move(from: 0, to: 1, playlist: other.id),
      ] { try await client.expect(400, .post, uri, move) }
      #expect(try await client.send(.get, "/playlists/\(list.id)") == list)
      #expect(try await client.send(.get, "/playlists/\(other.id)") == other)
    }
  }

  @Test("A song that is deleted during reads is complete or missing, in playlists, too")
  func deleted() async throws {
    try await withService { client, _ in
      let rows = try await client.addedSongs(60)
      let list: PlaylistAnswer = try await client.send(
        .post, "/playlists", NewPlaylist(name: "a", songs: rows + rows))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for row in rows { try await client.expect(204, .delete, "/songs/\(row)") }
        }
        for row in rows {
          group.addTask {
            while let song = try await client.song(row) { #expect(song.title.hasPrefix("Song ")) }
          }
        }
        group.addTask {
          var last = list
          repeat {
            last = try await client.send(.get, "/playlists/\(list.id)")
            #expect(last.songs.allSatisfy { $0.title.hasPrefix("Song ") })
            // One commit removes a song from both of its positions.
            #expect(last.songs.count.isMultiple(of: 2))
          } while !last.songs.isEmpty
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("A service with a closed store answers 503")
  func closed() async throws {
    try await withService { client, service in
      try await client.addSongs(1)
      try await service.close()
      try await client.expect(503, .get, "/songs/2")
      try await client.expect(503, .post, "/songs/2/plays")
    }
  }
}
