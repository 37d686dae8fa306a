import Foundation
import GRDB

/// GRDB in the style of its documentation: Codable records, and requests derived from them.
struct Documented: Engine {
  struct Song: Codable, FetchableRecord, PersistableRecord, Titled {
    static let databaseTableName = "song"
    var id: Int64
    var title: String
    var seconds: Int64
  }

  struct Playlist: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "playlist"
    var id: Int64
    var title: String
  }

  struct Entry: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "entry"
    static let ofPlaylist = belongsTo(
      Playlist.self, key: "inPlaylist", using: ForeignKey(["playlist"]))
    static let toSong = belongsTo(Song.self, key: "toSong", using: ForeignKey(["song"]))
    var playlist: Int64
    var position: Int64
    var song: Int64
  }

  struct Buffer: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "buffer"
    var name: String
    var bytes: Data
  }

  struct Item: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"
    var key: String
    var value: String
    var createdAt: Date
    var updatedAt: Date
  }

  /// An entry with both of its ends, as fetched by the association.
  struct FirstSong: Decodable, FetchableRecord {
    var inPlaylist: Playlist
    var toSong: Song
  }

  func tune(_ database: Database) throws {}

  func insertSong(_ database: Database, id: Int64, title: String, seconds: Int64) throws {
    try Song(id: id, title: title, seconds: seconds).insert(database)
  }

  func song(_ database: Database, id: Int64) throws -> Song? {
    try Song.fetchOne(database, key: id)
  }

  func allSongs(_ database: Database) throws -> [Song] { try Song.fetchAll(database) }

  func eachSong(_ database: Database, _ visit: (Song) -> Void) throws {
    let songs = try Song.fetchCursor(database)
    while let song = try songs.next() { visit(song) }
  }

  func update(_ database: Database, _ song: Song) throws { try song.update(database) }

  func insertPlaylist(_ database: Database, id: Int64, title: String, songs: [Int64]) throws {
    try Playlist(id: id, title: title).insert(database)
    for (index, song) in songs.enumerated() {
      try Entry(playlist: id, position: Int64(index) * gap, song: song).insert(database)
    }
  }

  func songList(_ database: Database, playlist: Int64) throws -> SongList {
    let entries = try Entry.filter(Column("playlist") == playlist)
      .order(Column("position")).fetchAll(database)
    return SongList(playlist: playlist, songs: entries.map(\.song))
  }

  func move(_ database: Database, _ list: inout SongList, from: Int, to: Int) throws {
    list.move(from: from, to: to)
    try Entry
      .filter(Column("playlist") == list.playlist && Column("position") == Int64(from) * gap)
      .updateAll(database, Column("position").set(to: position(from: from, to: to)))
  }

  func firstTitles(_ database: Database) throws -> [FirstTitles] {
    try Entry.filter(Column("position") == 0)
      .including(required: Entry.ofPlaylist).including(required: Entry.toSong)
      .asRequest(of: FirstSong.self).fetchAll(database)
      .map { FirstTitles(playlist: $0.inPlaylist.title, song: $0.toSong.title) }
  }

  func insertBuffer(_ database: Database, name: String, bytes: [UInt8]) throws {
    try Buffer(name: name, bytes: Data(bytes)).insert(database)
  }

  func buffer(_ database: Database, name: String) throws -> [UInt8]? {
    try Buffer.fetchOne(database, key: name).map { Array($0.bytes) }
  }

  func putItem(_ database: Database, key: String, value: String) throws {
    let now = Date()
    try Item(key: key, value: value, createdAt: now, updatedAt: now).save(database)
  }

  func item(_ database: Database, key: String) throws -> String? {
    try Item.fetchOne(database, key: key)?.value
  }

  func song(_ database: Database, titled title: String) throws -> Song? {
    try Song.filter(Column("title") == title).fetchOne(database)
  }

  func songs(_ database: Database, from title: String, limit: Int) throws -> [Song] {
    try Song.filter(Column("title") >= title).order(Column("title"), Column("id"))
      .limit(limit).fetchAll(database)
  }

  func songs(_ database: Database, behind song: Song, limit: Int) throws -> [Song] {
    // Two comparisons joined by OR would not be looked up in the index.
    try Song.filter(sql: "(title, id) > (?, ?)", arguments: [song.title, song.id])
      .order(Column("title"), Column("id")).limit(limit).fetchAll(database)
  }

  func count(_ database: Database, from title: String, to end: String) throws -> Int {
    try Song.filter(Column("title") >= title && Column("title") < end).fetchCount(database)
  }

  func songs(_ database: Database, _ kind: TextKind, matching pattern: String) throws -> [Song] {
    let order = kind == .all ? "" : "ORDER BY rank LIMIT 20"
    let sql = """
      SELECT song.* FROM song JOIN \(kind.table) ON \(kind.table).rowid = song.id
      AND \(kind.table) MATCH ? \(order)
      """
    let pattern = try database.makeFTS5Pattern(rawPattern: pattern, forTable: kind.table)
    return try Song.fetchAll(database, sql: sql, arguments: [pattern])
  }
}
