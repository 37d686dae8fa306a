import Foundation
import GRDB

struct Song: Codable, Sendable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "song"
  var id: Int64?
  var title: String
  var artist: String
  var album: String
  var seconds: Int
  var playCount: Int
  var lastPlayed: Date?

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// Opens a pool in which every commit is synced, like the commits of a store.
func openPool(_ path: String) throws -> DatabasePool {
  var configuration = Configuration()
  configuration.maximumReaderCount = 4
  let pool = try DatabasePool(path: path, configuration: configuration)
  // If set in `prepareDatabase`, it would be undone when the pool switches to WAL.
  try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
  try pool.write { database in
    try database.create(table: "song", options: .ifNotExists) { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("title", .text).notNull()
      table.column("artist", .text).notNull()
      table.column("album", .text).notNull()
      table.column("seconds", .integer).notNull()
      table.column("playCount", .integer).notNull()
      table.column("lastPlayed", .datetime)
    }
    try database.create(
      index: "songByArtist", on: "song", columns: ["artist", "playCount"], options: .ifNotExists)
    if try !database.tableExists("songText") {
      try database.create(virtualTable: "songText", using: FTS5()) { table in
        table.synchronize(withTable: "song")
        table.column("title")
        table.column("artist")
      }
    }
  }
  return pool
}
