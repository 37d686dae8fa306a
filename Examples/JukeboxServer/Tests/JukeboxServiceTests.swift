import Hummingbird
import HummingbirdTesting
import StoredObjects
import Testing

@testable import JukeboxService

@Suite("The music service")
struct JukeboxServiceTests {
  @Test("Songs are imported, found by row, artist and text, played and deleted")
  func songs() async throws {
    try await withService { client, _ in
      try await client.addSongs(2500)
      let all: [SongAnswer] = try await client.send(.get, "/songs?limit=1000&offset=2000")
      #expect(all.count == 500)
      let some: [SongAnswer] = try await client.send(.get, "/songs?artist=Artist%203&limit=1000")
      #expect(some.count == 357 && some.allSatisfy { $0.artist == "Artist 3" })
      let found: [SongAnswer] = try await client.send(.get, "/songs?search=1234")
      #expect(found.map(\.title) == ["Song 1234"])
      let id = found[0].id
      let played: SongAnswer = try await client.send(.post, "/songs/\(id)/plays")
      #expect(played.playCount == 1)
      let again: SongAnswer = try await client.send(.get, "/songs/\(id)")
      #expect(again == played)
      try await client.expect(204, .delete, "/songs/\(id)")
      try await client.expect(404, .get, "/songs/\(id)")
      try await client.expect(404, .post, "/songs/\(id)/plays")
    }
  }

  @Test("All plays of many clients are counted")
  func plays() async throws {
    try await withService { client, service in
      try await client.addSongs(1)
      let id = try await service.container.read { try $0.allObjects(of: Song.self)[0].rowID }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<200 {
          group.addTask { try await client.expect(200, .post, "/songs/\(id)/plays") }
        }
        try await group.waitForAll()
      }
      let song: SongAnswer = try await client.send(.get, "/songs/\(id)")
      #expect(song.playCount == 200)
      let top: [ArtistAnswer] = try await client.send(.get, "/statistics/artists")
      #expect(top == [ArtistAnswer(artist: "Artist 0", songCount: 1, playCount: 200)])
    }
  }

  @Test("A song that moves between playlists is always in exactly one")
  func moves() async throws {
    try await withService { client, service in
      try await client.addSongs(3)
      let rows = try await service.container.read { store in
        try store.allObjects(of: Song.self).map(\.rowID)
      }
      let first: PlaylistAnswer = try await client.send(
        .post, "/playlists", NewPlaylist(name: "a", songs: rows))
      let second: PlaylistAnswer = try await client.send(
        .post, "/playlists", NewPlaylist(name: "b", songs: []))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for round in 0..<100 {
            let (from, to) = round % 2 == 0 ? (first.id, second.id) : (second.id, first.id)
            let move = Move(from: 0, to: 0, playlist: to)
            let _: PlaylistAnswer = try await client.send(.post, "/playlists/\(from)/moves", move)
          }
        }
        group.addTask {
          for _ in 0..<100 {
            let count = try await service.container.read { store in
              try store.allObjects(of: Playlist.self).reduce(0) { $0 + $1.songs.count }
            }
            #expect(count == 3)
          }
        }
        try await group.waitForAll()
      }
      let back: PlaylistAnswer = try await client.send(.get, "/playlists/\(first.id)")
      #expect(back.songs.map(\.id) == rows)
    }
  }

  @Test("Clients get saves as events")
  func events() async throws {
    try await withService { client, service in
      let changes = try service.container.committedChanges()
      try await client.addSongs(2)
      for await change in changes {
        let events = JukeboxService.events(of: change)
        let data = #"{"inserted":[2, 3],"updated":[],"deleted":[]}"#
        #expect(events == ["event: songs\ndata: \(data)\n\n"])
        break
      }
    }
  }
}
