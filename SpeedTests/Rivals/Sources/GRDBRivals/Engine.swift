import GRDB

/// A song in the memory of a program.
protocol Titled {
  var id: Int64 { get }
  var title: String { get set }
  var seconds: Int64 { get }
}

/// A playlist with the songs' IDs, in their order.
struct SongList {
  let playlist: Int64
  var songs: [Int64]
}

/// The titles of a playlist and of its first song.
struct FirstTitles {
  let playlist: String
  let song: String
}

/// The kind of the search text, and of the result.
enum TextKind: Sendable {
  /// Parts of words; all songs that contain them.
  case all
  /// Parts of words; the best 20 songs.
  case best
  /// Words; the best 20 songs.
  case words

  /// The FTS5 table.
  var table: String { self == .words ? "word" : "part" }
}

/// A style of using GRDB.
protocol Engine: SendableMetatype {
  associatedtype Song: Titled

  /// Tunes a connection that was just opened.
  func tune(_ database: Database) throws
  func insertSong(_ database: Database, id: Int64, title: String, seconds: Int64) throws
  func song(_ database: Database, id: Int64) throws -> Song?
  func allSongs(_ database: Database) throws -> [Song]
  func eachSong(_ database: Database, _ visit: (Song) -> Void) throws
  func update(_ database: Database, _ song: Song) throws
  func insertPlaylist(_ database: Database, id: Int64, title: String, songs: [Int64]) throws
  func songList(_ database: Database, playlist: Int64) throws -> SongList
  func move(_ database: Database, _ list: inout SongList, from: Int, to: Int) throws
  func firstTitles(_ database: Database) throws -> [FirstTitles]
  func insertBuffer(_ database: Database, name: String, bytes: [UInt8]) throws
  func buffer(_ database: Database, name: String) throws -> [UInt8]?
  /// Puts a value with its times under a key, which may already exist.
  func putItem(_ database: Database, key: String, value: String) throws
  func item(_ database: Database, key: String) throws -> String?
  /// Returns a song with a title, by the index.
  func song(_ database: Database, titled title: String) throws -> Song?
  /// Returns songs in the order of their titles, beginning with the first one not before a title.
  func songs(_ database: Database, from title: String, limit: Int) throws -> [Song]
  /// Returns the songs that follow one in the same order.
  func songs(_ database: Database, behind song: Song, limit: Int) throws -> [Song]
  /// Returns the number of songs from one title up to, but not including, another.
  func count(_ database: Database, from title: String, to end: String) throws -> Int
  /// Returns the songs that match an FTS5 pattern.
  func songs(_ database: Database, _ kind: TextKind, matching pattern: String) throws -> [Song]
}

extension Engine {
  /// The distance between the entries of a new playlist: a move changes one row.
  var gap: Int64 { 65536 }

  /// Returns the position of an entry that moves.
  ///
  /// The workload moves one entry once, so its neighbors have their original positions.
  func position(from: Int, to: Int) -> Int64 {
    Int64(to) * gap + (from < to ? gap / 2 : -gap / 2)
  }
}

extension SongList {
  mutating func move(from: Int, to: Int) { songs.insert(songs.remove(at: from), at: to) }
}
