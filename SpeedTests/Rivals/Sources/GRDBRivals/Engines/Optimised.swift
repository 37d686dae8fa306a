import Foundation
import GRDB

/// GRDB by hand: SQL, statements prepared once, columns by their index, the page cache enlarged.
struct Optimised: Engine {
  final class Song: Titled {
    let id: Int64
    var title: String
    let seconds: Int64

    init(_ row: Row) {
      id = row[0]
      title = row[1]
      seconds = row[2]
    }
  }

  func tune(_ database: Database) throws {
    try database.execute(sql: "PRAGMA mmap_size = 1073741824")
    try database.execute(sql: "PRAGMA cache_size = -65536")
  }

  private func execute(
    _ database: Database, _ sql: String, _ arguments: StatementArguments
  ) throws {
    let statement = try database.cachedStatement(sql: sql)
    // The number of arguments is right, because the SQL is in the same place.
    statement.setUncheckedArguments(arguments)
    try statement.execute()
  }

  private func rows(
    _ database: Database, _ sql: String, _ arguments: StatementArguments = []
  ) throws -> RowCursor {
    try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: arguments)
  }

  func insertSong(_ database: Database, id: Int64, title: String, seconds: Int64) throws {
    try execute(database, "INSERT INTO song VALUES (?, ?, ?)", [id, title, seconds])
  }

  func song(_ database: Database, id: Int64) throws -> Song? {
    let found = try rows(database, "SELECT id, title, seconds FROM song WHERE id = ?", [id])
    // A row is valid as long as its cursor.
    return try withExtendedLifetime(found) { try found.next().map(Song.init) }
  }

  func allSongs(_ database: Database) throws -> [Song] {
    var songs: [Song] = []
    try eachSong(database) { songs.append($0) }
    return songs
  }

  func eachSong(_ database: Database, _ visit: (Song) -> Void) throws {
    let songs = try rows(database, "SELECT id, title, seconds FROM song")
    while let row = try songs.next() { visit(Song(row)) }
  }

  func update(_ database: Database, _ song: Song) throws {
    try execute(database, "UPDATE song SET title = ? WHERE id = ?", [song.title, song.id])
  }

  func insertPlaylist(_ database: Database, id: Int64, title: String, songs: [Int64]) throws {
    try execute(database, "INSERT INTO playlist VALUES (?, ?)", [id, title])
    for (index, song) in songs.enumerated() {
      try execute(database, "INSERT INTO entry VALUES (?, ?, ?)", [id, Int64(index) * gap, song])
    }
  }

  func songList(_ database: Database, playlist: Int64) throws -> SongList {
    var list = SongList(playlist: playlist, songs: [])
    let entries = try rows(
      database, "SELECT song FROM entry WHERE playlist = ? ORDER BY position", [playlist])
    while let row = try entries.next() { list.songs.append(row[0]) }
    return list
  }

  func move(_ database: Database, _ list: inout SongList, from: Int, to: Int) throws {
    list.move(from: from, to: to)
    try execute(
      database, "UPDATE entry SET position = ? WHERE playlist = ? AND position = ?",
      [position(from: from, to: to), list.playlist, Int64(from) * gap])
  }

  func firstTitles(_ database: Database) throws -> [FirstTitles] {
    var titles: [FirstTitles] = []
    let found = try rows(
      database,
      """
      SELECT playlist.title, song.title FROM playlist \
      JOIN entry ON entry.playlist = playlist.id AND entry.position = 0 \
      JOIN song ON song.id = entry.song
      """)
    while let row = try found.next() { titles.append(FirstTitles(playlist: row[0], song: row[1])) }
    return titles
  }

  func insertBuffer(_ database: Database, name: String, bytes: [UInt8]) throws {
    try execute(database, "INSERT INTO buffer VALUES (?, ?)", [name, Data(bytes)])
  }

  func buffer(_ database: Database, name: String) throws -> [UInt8]? {
    let found = try rows(database, "SELECT bytes FROM buffer WHERE name = ?", [name])
    return try withExtendedLifetime(found) { try found.next().map { Array($0[0] as Data) } }
  }

  func putItem(_ database: Database, key: String, value: String) throws {
    let now = Date().timeIntervalSinceReferenceDate
    try execute(
      database,
      """
      INSERT INTO item VALUES (?, ?, ?, ?) ON CONFLICT (key) \
      DO UPDATE SET value = excluded.value, updatedAt = excluded.updatedAt
      """, [key, value, now, now])
  }

  func item(_ database: Database, key: String) throws -> String? {
    let found = try rows(database, "SELECT value FROM item WHERE key = ?", [key])
    return try withExtendedLifetime(found) { try found.next().map { $0[0] } }
  }

  private func songs(
    _ database: Database, _ sql: String, _ arguments: StatementArguments
  ) throws -> [Song] {
    let found = try rows(database, sql, arguments)
    var songs: [Song] = []
    while let row = try found.next() { songs.append(Song(row)) }
    return songs
  }

  func song(_ database: Database, titled title: String) throws -> Song? {
    try songs(database, "SELECT id, title, seconds FROM song WHERE title = ? LIMIT 1", [title])
      .first
  }

  func songs(_ database: Database, from title: String, limit: Int) throws -> [Song] {
    try songs(
      database,
      "SELECT id, title, seconds FROM song WHERE title >= ? ORDER BY title, id LIMIT ?",
      [title, limit])
  }

  func songs(_ database: Database, behind song: Song, limit: Int) throws -> [Song] {
    try songs(
      database,
      """
      SELECT id, title, seconds FROM song WHERE (title, id) > (?, ?) ORDER BY title, id LIMIT ?
      """, [song.title, song.id, limit])
  }

  func count(_ database: Database, from title: String, to end: String) throws -> Int {
    let found = try rows(
      database, "SELECT count(*) FROM song WHERE title >= ? AND title < ?", [title, end])
    return try withExtendedLifetime(found) { try found.next().map { $0[0] } ?? 0 }
  }

  func songs(_ database: Database, _ kind: TextKind, matching pattern: String) throws -> [Song] {
    let sql =
      switch kind {
      case .all:
        """
        SELECT id, song.title, seconds FROM part CROSS JOIN song ON id = part.rowid \
        WHERE part MATCH ?
        """
      case .best, .words:
        """
        SELECT id, title, seconds FROM (SELECT rowid AS found, rank AS score FROM \(kind.table) \
        WHERE \(kind.table) MATCH ? ORDER BY rank LIMIT 20) CROSS JOIN song ON id = found \
        ORDER BY score
        """
      }
    var songs: [Song] = []
    let found = try rows(database, sql, [pattern])
    while let row = try found.next() { songs.append(Song(row)) }
    return songs
  }
}
