import Foundation
import NIOCore
import Synchronization
import Testing

@testable import JukeboxService

@Suite(
  "Several servers on one database", .serialized,
  .enabled(if: TestServer.isAvailable, "PostgreSQL isn't installed: apt-get install postgresql"))
struct SeveralServersTests {
  /// Runs a test with three servers on a new store, which start at the same time.
  private func withServers(_ body: ([ServerProcess]) async throws -> Void) async throws {
    let url = "\(try TestServer.shared.get().url())#Music%20\(UUID().uuidString)"
    let servers = try await withThrowingTaskGroup(of: ServerProcess.self) { group in
      for _ in 0..<3 { group.addTask { try ServerProcess(url) } }
      return try await group.reduce(into: [ServerProcess]()) { $0.append($1) }
    }
    let result = await Result { try await body(servers) }
    for server in servers {
      server.terminate()
      _ = try await server.waitForEnd()
    }
    try result.get()
  }

  @Test("A client of one server sees at once what a client of another one has saved")
  func changes() async throws {
    try await withServers { servers in
      let (a, b, c) = (servers[0], servers[1], servers[2])
      try await a.addSongs(2)
      let songs = try await b.get("/songs", as: [SongAnswer].self)
      #expect(songs.map(\.title) == ["Song 0", "Song 1"])
      let (first, second) = (songs[0].id, songs[1].id)
      for (number, server) in (servers + servers).enumerated() {
        try await server.expect(200, "POST", "/songs/\(first)/plays")
        for other in servers {
          let song = try await other.get("/songs/\(first)", as: SongAnswer.self)
          #expect(song.playCount == number + 1)
        }
      }
      #expect(try await c.get("/songs?search=song", as: [SongAnswer].self).count == 2)
      let new = try JSONEncoder().encode(NewPlaylist(name: "a", songs: [second, first, second]))
      let playlist = try await b.send("POST", "/playlists", new, as: PlaylistAnswer.self)
      try await a.expect(204, "DELETE", "/songs/\(second)")
      try await b.expect(404, "GET", "/songs/\(second)")
      let rest = try await c.get("/playlists/\(playlist.id)", as: PlaylistAnswer.self)
      #expect(rest.songs.map(\.id) == [first])
      let artists = try await b.get("/statistics/artists", as: [ArtistAnswer].self)
      #expect(artists == [ArtistAnswer(artist: "Artist 0", songCount: 1, playCount: 6)])
      try await b.expect(501, "POST", "/backups/one")
    }
  }

  @Test("The events of one server have the saves of clients of all servers, in their order")
  func events() async throws {
    try await withServers { servers in
      let (a, b, c) = (servers[0], servers[1], servers[2])
      let events = try await c.open("GET", "/events")
      try await a.addSongs(2)
      let ids = try await b.get("/songs", as: [SongAnswer].self).map(\.id)
      try await b.expect(200, "POST", "/songs/\(ids[1])/plays")
      try await a.expect(204, "DELETE", "/songs/\(ids[0])")
      try await c.expect(200, "POST", "/songs/\(ids[1])/plays")
      let wanted = [
        ("\(ids)", "[]", "[]"), ("[]", "[\(ids[1])]", "[]"), ("[]", "[]", "[\(ids[0])]"),
        ("[]", "[\(ids[1])]", "[]"),
      ].map { inserted, updated, deleted in
        "event: songs\n"
          + #"data: {"inserted":\#(inserted),"updated":\#(updated),"deleted":\#(deleted)}"#
      }
      var text = ""
      for try await bytes in events.body {
        text += String(buffer: bytes)
        if text.components(separatedBy: "\n\n").count > wanted.count + 1 { break }
      }
      let blocks = text.components(separatedBy: "\n\n").dropLast()
      #expect(Array(blocks) == [": connected"] + wanted)
    }
  }

  @Test("Plays of clients of all servers are counted once each, if one server is killed, too")
  func kill() async throws {
    try await withServers { servers in
      try await servers[0].addSongs(4)
      let rows = try await servers[0].get("/songs", as: [SongAnswer].self).map(\.id)
      let plays = PlayCounts()
      await withTaskGroup(of: Void.self) { group in
        for (number, server) in (servers + servers).enumerated() {
          group.addTask { await plays.play(rows, on: server, startingAt: number) }
        }
        while plays.counts.withLock({ $0.answered }) < 60 {
          try? await Task.sleep(for: .milliseconds(5))
        }
        servers[0].kill()
      }
      let counts = plays.counts.withLock { $0 }
      var total = 0
      for row in rows {
        let answers = [
          try await servers[1].get("/songs/\(row)", as: SongAnswer.self),
          try await servers[2].get("/songs/\(row)", as: SongAnswer.self),
        ]
        #expect(answers[0] == answers[1])
        total += answers[0].playCount
      }
      // A request that was not answered may have been saved.
      #expect(counts.answered...(counts.answered + counts.lost) ~= total, "\(counts)")
      #expect(counts.answered >= 240)
    }
  }
}

extension Result where Failure == any Error, Success == Void {
  /// Runs a closure, and keeps its error.
  fileprivate init(_ body: () async throws -> Void) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// The plays of several clients.
private final class PlayCounts: Sendable {
  let counts = Mutex((answered: 0, lost: 0))

  /// Has a hundred plays counted in turn, or as many as the server answers.
  func play(_ rows: [UInt32], on server: ServerProcess, startingAt start: Int) async {
    for number in start..<start + 100 {
      let path = "/songs/\(rows[number % rows.count])/plays"
      guard let status = try? await server.status("POST", path) else {
        return counts.withLock { $0.lost += 1 }
      }
      // The other servers may always have been faster; nothing has changed then.
      #expect(status == 200 || status == 409)
      if status == 200 { counts.withLock { $0.answered += 1 } }
    }
  }
}
