import Foundation
import Hummingbird
import StoredObjects

struct NewSong: Codable, Sendable {
  var title: String
  var artist: String
  var album: String?
  var seconds: Int?
}

extension JukeboxService {
  func addSongs(to songs: RouterGroup<BasicRequestContext>) {
    songs.get(":id") { _, context in
      let id = try context.parameters.require("id", as: UInt32.self)
      return try await container.read { try SongAnswer($0.song(id)) }
    }
    songs.get { request, _ in
      let query = request.uri.queryParameters
      let (text, artist) = (query["search"].map(String.init), query["artist"].map(String.init))
      let page = try Page(query)
      return try await container.read { try $0.songs(matching: text, by: artist, page) }
    }
    songs.post { request, context in
      let new = try await request.decode(as: [NewSong].self, context: context)
      return try await add(new)
    }
    songs.post(":id/plays") { _, context in
      let id = try context.parameters.require("id", as: UInt32.self)
      return try await container.write { store in
        let song = try store.song(id)
        song.playCount += 1
        song.lastPlayed = Date()
        return SongAnswer(song)
      }
    }
    songs.delete(":id") { _, context in
      let id = try context.parameters.require("id", as: UInt32.self)
      try await container.write { $0.delete(try $0.song(id)) }
      return HTTPResponse.Status.noContent
    }
  }

  /// Adds songs, a thousand per save, so that other writes can run in between.
  private func add(_ new: [NewSong]) async throws -> ImportAnswer {
    for start in stride(from: 0, to: new.count, by: 1000) {
      try await container.write { store in
        for one in new[start..<min(start + 1000, new.count)] {
          let song = Song()
          (song.title, song.artist) = (one.title, one.artist)
          (song.album, song.seconds) = (one.album ?? "", one.seconds ?? 0)
          store.insert(song)
        }
      }
    }
    return ImportAnswer(count: new.count)
  }
}

/// A page of a long list.
struct Page: Sendable {
  let offset: Int
  let limit: Int

  init(_ query: Parameters) throws {
    offset = query.get("offset", as: Int.self) ?? 0
    limit = query.get("limit", as: Int.self) ?? 50
    guard offset >= 0, 1...1000 ~= limit else { throw HTTPError(.badRequest) }
  }
}

extension Store {
  /// Returns the song with a row ID, or throws 404.
  func song(_ id: UInt32) throws -> Song {
    guard let song = try object(Song.self, rowID: id) else { throw HTTPError(.notFound) }
    return song
  }

  func songs(matching text: String?, by artist: String?, _ page: Page) throws -> [SongAnswer] {
    if let text {
      return try search(Song.self, text, limit: page.limit, offset: page.offset)
        .map { SongAnswer($0.object) }
    }
    let predicate = artist.map { artist in #Predicate<Song> { $0.artist == artist } }
    return try fetch(
      Song.self, where: predicate, limit: page.limit, offset: page.offset
    ).map { SongAnswer($0) }
  }
}
