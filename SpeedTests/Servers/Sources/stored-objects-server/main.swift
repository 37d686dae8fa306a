import Foundation
import Hummingbird
import Logging
import StoredObjects

struct NewSong: Codable, Sendable {
  var title: String
  var artist: String
  var album: String?
  var seconds: Int?
}

struct SongAnswer: ResponseCodable {
  var id: UInt32
  var title: String
  var artist: String
  var album: String
  var seconds: Int
  var playCount: Int

  init(_ song: Song) {
    id = song.rowID
    (title, artist, album) = (song.title, song.artist, song.album)
    (seconds, playCount) = (song.seconds, song.playCount)
  }
}

struct ArtistAnswer: ResponseCodable {
  var artist: String
  var songCount: Int
  var playCount: Int
}

struct ImportAnswer: ResponseCodable { var count: Int }

func addSongs(to router: Router<BasicRequestContext>, _ container: StoreContainer) {
  router.get("songs/:id") { _, context in
    let id = try context.parameters.require("id", as: UInt32.self)
    return try await container.read { SongAnswer(try song(id, in: $0)) }
  }
  router.get("songs") { request, _ in
    let query = request.uri.queryParameters
    let offset = query.get("offset", as: Int.self) ?? 0
    let limit = query.get("limit", as: Int.self) ?? 50
    let (text, artist) = (query["search"].map(String.init), query["artist"].map(String.init))
    return try await container.read { store in
      try songs(store, matching: text, by: artist, offset, limit).map { SongAnswer($0) }
    }
  }
  router.post("songs") { request, context in
    let new = try await request.decode(as: [NewSong].self, context: context)
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
  router.post("songs/:id/plays") { _, context in
    let id = try context.parameters.require("id", as: UInt32.self)
    return try await container.write { store in
      let song = try song(id, in: store)
      song.playCount += 1
      song.lastPlayed = Date()
      return SongAnswer(song)
    }
  }
}

func song(_ id: UInt32, in store: Store) throws -> Song {
  guard let song = try store.object(Song.self, rowID: id) else { throw HTTPError(.notFound) }
  return song
}

func songs(
  _ store: Store, matching text: String?, by artist: String?, _ offset: Int, _ limit: Int
) throws -> [Song] {
  if let text {
    return try store.search(Song.self, text, limit: limit, offset: offset).map(\.object)
  }
  let predicate = artist.map { artist in #Predicate<Song> { $0.artist == artist } }
  return try store.fetch(Song.self, where: predicate, limit: limit, offset: offset)
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = Int(arguments[2]) else {
  fatalError("usage: stored-objects-server DIRECTORY PORT")
}
let container = try await openContainer(arguments[1])
let router = Router()
addSongs(to: router, container)
router.get("statistics/artists") { request, _ in
  let limit = request.uri.queryParameters.get("limit", as: Int.self) ?? 20
  let artists = try await container.read { store in
    try store.groups(of: Song.self, by: \.artist, summing: \.playCount).map {
      ArtistAnswer(artist: $0.value, songCount: $0.count, playCount: Int($0.numbers.sum))
    }
  }
  let sorted = artists.sorted { ($0.playCount, $1.artist) > ($1.playCount, $0.artist) }
  return Array(sorted.prefix(limit))
}
var logger = Logger(label: "stored-objects-server")
logger.logLevel = .notice
let application = Application(
  router: router,
  configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "jukebox"),
  logger: logger)
try await application.runService()
