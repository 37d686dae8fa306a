import Foundation
import GRDB
import Hummingbird
import Logging

struct NewSong: Codable, Sendable {
  var title: String
  var artist: String
  var album: String?
  var seconds: Int?
}

struct SongAnswer: ResponseCodable {
  var id: Int64
  var title: String
  var artist: String
  var album: String
  var seconds: Int
  var playCount: Int

  init(_ song: Song) {
    id = song.id ?? 0
    (title, artist, album) = (song.title, song.artist, song.album)
    (seconds, playCount) = (song.seconds, song.playCount)
  }
}

struct ArtistAnswer: ResponseCodable, FetchableRecord {
  var artist: String
  var songCount: Int
  var playCount: Int
}

struct ImportAnswer: ResponseCodable { var count: Int }

func addSongs(to router: Router<BasicRequestContext>, _ pool: DatabasePool) {
  router.get("songs/:id") { _, context in
    let id = try context.parameters.require("id", as: Int64.self)
    guard let song = try await pool.read({ try Song.fetchOne($0, key: id) }) else {
      throw HTTPError(.notFound)
    }
    return SongAnswer(song)
  }
  router.get("songs") { request, _ in
    let query = request.uri.queryParameters
    let offset = query.get("offset", as: Int.self) ?? 0
    let limit = query.get("limit", as: Int.self) ?? 50
    let (text, artist) = (query["search"].map(String.init), query["artist"].map(String.init))
    return try await pool.read { database in
      try songs(database, matching: text, by: artist, offset, limit).map { SongAnswer($0) }
    }
  }
  router.post("songs") { request, context in
    let new = try await request.decode(as: [NewSong].self, context: context)
    for start in stride(from: 0, to: new.count, by: 1000) {
      try await pool.write { database in
        for one in new[start..<min(start + 1000, new.count)] {
          var song = Song(
            title: one.title, artist: one.artist, album: one.album ?? "",
            seconds: one.seconds ?? 0, playCount: 0)
          try song.insert(database)
        }
      }
    }
    return ImportAnswer(count: new.count)
  }
  router.post("songs/:id/plays") { _, context in
    let id = try context.parameters.require("id", as: Int64.self)
    return try await pool.write { database in
      guard var song = try Song.fetchOne(database, key: id) else { throw HTTPError(.notFound) }
      song.playCount += 1
      song.lastPlayed = Date()
      try song.update(database)
      return SongAnswer(song)
    }
  }
}

func songs(
  _ database: Database, matching text: String?, by artist: String?, _ offset: Int, _ limit: Int
) throws -> [Song] {
  if let text, let pattern = FTS5Pattern(matchingAllTokensIn: text) {
    let sql = """
      SELECT song.* FROM song JOIN songText ON songText.rowid = song.id WHERE songText MATCH ?
      ORDER BY rank LIMIT ? OFFSET ?
      """
    return try Song.fetchAll(database, sql: sql, arguments: [pattern, limit, offset])
  }
  let all = artist.map { Song.filter(Column("artist") == $0) } ?? Song.all()
  return try all.order(Column("id")).limit(limit, offset: offset).fetchAll(database)
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = Int(arguments[2]) else {
  fatalError("usage: grdb-server DIRECTORY PORT")
}
try FileManager.default.createDirectory(atPath: arguments[1], withIntermediateDirectories: true)
let pool = try openPool(arguments[1] + "/Music.sqlite")
let router = Router()
addSongs(to: router, pool)
router.get("statistics/artists") { request, _ in
  let limit = request.uri.queryParameters.get("limit", as: Int.self) ?? 20
  let sql = """
    SELECT artist, COUNT(*) AS songCount, SUM(playCount) AS playCount FROM song GROUP BY artist
    ORDER BY playCount DESC, artist LIMIT ?
    """
  return try await pool.read { try ArtistAnswer.fetchAll($0, sql: sql, arguments: [limit]) }
}
var logger = Logger(label: "grdb-server")
logger.logLevel = .notice
let application = Application(
  router: router,
  configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "jukebox"),
  logger: logger)
try await application.runService()
