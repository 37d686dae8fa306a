import Foundation
import Logging
import NIOCore
import StoredObjects
import Synchronization
import Testing

@testable import JukeboxService

@Suite("The server as a process", .serialized)
struct ServerProcessTests {
  @Test("A server that is killed under load loses no answered play", arguments: 1...5)
  func kill(round: Int) async throws {
    try await withDirectory { directory in
      let server = try ServerProcess(directory)
      try await server.addSongs(20)
      let rows = try await server.get("/songs", as: [SongAnswer].self).map(\.id)
      let plays = Plays()
      let delay = Int.random(in: 50...1000)
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<32 {
          group.addTask { await plays.play(rows, on: server, startingAt: worker) }
        }
        try? await Task.sleep(for: .milliseconds(delay))
        server.kill()
      }
      #expect(try await server.waitForEnd() == nil)
      #expect(plays.answered.values.reduce(0, +) > 0)

      let next = try ServerProcess(directory)
      for row in rows {
        let count = try await next.get("/songs/\(row)", as: SongAnswer.self).playCount
        let (answered, sent) = (plays.answered[row, default: 0], plays.sent[row, default: 0])
        #expect(answered...sent ~= count, "Killed after \(delay) ms")
      }
      next.terminate()
      #expect(try await next.waitForEnd() == 0)
    }
  }

  @Test("At SIGTERM a server answers current requests, ends event streams, and exits")
  func terminate() async throws {
    try await withDirectory { directory in
      let server = try ServerProcess(directory)
      let events = try await server.open("GET", "/events")
      async let songs: Void = server.addSongs(15_000)
      var text = ""
      for try await bytes in events.body {
        text += String(buffer: bytes)
        // The first of fifteen saves.
        if text.contains("event: songs") { server.terminate() }
      }
      #expect(text.components(separatedBy: "event: songs").count <= 16)
      try await songs
      #expect(try await server.waitForEnd() == 0)
      #expect(try await songCount(directory) == 15_000)
    }
  }

  @Test("Clients get each save as an event with its rows")
  func events() async throws {
    try await withDirectory { directory in
      let server = try ServerProcess(directory)
      let events = try await server.open("GET", "/events")
      #expect(events.headers.first(name: "Content-Type") == "text/event-stream")
      try await server.addSongs(2)
      try await server.expect(200, "POST", "/songs/3/plays")
      try await server.expect(204, "DELETE", "/songs/2")
      let new = try JSONEncoder().encode(NewPlaylist(name: "a", songs: [3]))
      #expect(try await server.status("POST", "/playlists", new) == 200)
      let wanted = [
        ("songs", "[2, 3]", "[]", "[]"), ("songs", "[]", "[3]", "[]"),
        ("songs", "[]", "[]", "[2]"), ("playlists", "[2]", "[]", "[]"),
      ].map { name, inserted, updated, deleted in
        "event: \(name)\n"
          + #"data: {"inserted":\#(inserted),"updated":\#(updated),"deleted":\#(deleted)}"#
      }
      var text = ""
      for try await bytes in events.body {
        text += String(buffer: bytes)
        if text.hasSuffix("\n\n"), text.contains("playlists") { break }
      }
      let blocks = text.components(separatedBy: "\n\n").dropLast()
      #expect(Array(blocks) == [": connected"] + wanted)
      server.terminate()
      #expect(try await server.waitForEnd() == 0)
    }
  }

  @Test("A backup that is made while songs are imported is one commit, and reads go on")
  func backup() async throws {
    try await withDirectory { directory in
      let server = try ServerProcess(directory)
      try await server.addSongs(1000)
      let songsImport = SongsImport()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for _ in 0..<4 { try await server.addSongs(3000) }
          songsImport.isDone.store(true, ordering: .relaxed)
        }
        for _ in 0..<2 {
          group.addTask {
            while !songsImport.isDone.load(ordering: .relaxed) {
              try await server.expect(200, "GET", "/songs?artist=Artist%203")
            }
          }
        }
        group.addTask {
          try await Task.sleep(for: .milliseconds(200))
          try await server.expect(201, "POST", "/backups/one")
          let isDone = songsImport.isDone.load(ordering: .relaxed)
          #expect(!isDone, "The import was over before the backup.")
        }
        try await group.waitForAll()
      }
      server.terminate()
      #expect(try await server.waitForEnd() == 0)
      #expect(try await songCount(directory) == 13_000)
      let count = try await songCount(directory + "-one")
      #expect(count.isMultiple(of: 1000) && 1000..<13_000 ~= count)
    }
  }

  @Test("Another process copies the store of a running server as of one commit")
  func copies() async throws {
    try await withDirectory { directory in
      let server = try ServerProcess(directory)
      try await server.addSongs(1000)
      let songsImport = SongsImport()
      var copies: [String] = []
      async let songs: Void = {
        for _ in 0..<4 { try await server.addSongs(3000) }
        songsImport.isDone.store(true, ordering: .relaxed)
      }()
      while !songsImport.isDone.load(ordering: .relaxed) {
        copies.append(directory + "-\(copies.count)")
        // `stored-objects backup` does the same.
        let backend = try TokyoCabinetBackend(
          directory: directory, configuration: .init(access: .readOnly))
        try backend.backup(to: copies[copies.count - 1])
        try backend.close()
        try await Task.sleep(for: .milliseconds(20))
      }
      try await songs
      server.terminate()
      #expect(try await server.waitForEnd() == 0)
      #expect(copies.count > 1)
      var counts: [Int] = []
      for copy in copies { counts.append(try await songCount(copy)) }
      #expect(counts.allSatisfy { $0.isMultiple(of: 1000) } && counts == counts.sorted())
    }
  }
}

/// An import that goes on while others use the server.
private final class SongsImport: Sendable {
  let isDone = Atomic(false)
}

/// Checks a store and returns its number of songs.
private func songCount(_ directory: String) async throws -> Int {
  let service = try await JukeboxService(
    backend: TokyoCabinetBackend(directory: directory), logger: Logger(label: "test"))
  let (count, findings) = try await service.container.makeActor().perform { store in
    (try store.count(of: Song.self), try store.check().findings.map(\.description))
  }
  #expect(findings == [])
  try await service.close()
  return count
}

/// The requested and the answered plays, by row.
private final class Plays: Sendable {
  private let counts = Mutex((sent: [UInt32: Int](), answered: [UInt32: Int]()))

  var sent: [UInt32: Int] { counts.withLock { $0.sent } }
  var answered: [UInt32: Int] { counts.withLock { $0.answered } }

  /// Plays songs in turn until the server has ended.
  func play(_ rows: [UInt32], on server: ServerProcess, startingAt start: Int) async {
    for number in start... {
      let row = rows[number % rows.count]
      counts.withLock { $0.sent[row, default: 0] += 1 }
      guard let status = try? await server.status("POST", "/songs/\(row)/plays") else { return }
      #expect(status == 200)
      counts.withLock { $0.answered[row, default: 0] += 1 }
    }
  }
}
