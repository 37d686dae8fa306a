import Foundation
import GRDB

/// The location of one run's database, which can be opened repeatedly.
final class Workspace<E: Engine> {
  let engine: E
  let count: Int
  private let path: String
  private let synchronous: String
  private var kept: [Any] = []

  init(_ engine: E, directory: String, durability: String, count: Int) throws {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    self.engine = engine
    self.count = count
    path = "\(directory)/Music.sqlite"
    synchronous = ["full": "FULL", "process": "NORMAL", "none": "OFF"][durability] ?? "FULL"
  }

  /// Opens the database, runs the body, and closes the database.
  func withDatabase(_ body: (DatabaseQueue) throws -> Void) throws {
    var configuration = Configuration()
    configuration.journalMode = .wal
    let isNew = !FileManager.default.fileExists(atPath: path)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
      try engine.tune(database)
    }
    if isNew { try queue.write(makeTables) }
    try body(queue)
    try queue.close()
  }

  /// Keeps objects alive until the process ends.
  func keep(_ objects: Any) { kept.append(objects) }

  private func makeTables(_ database: Database) throws {
    try database.create(table: "song") { table in
      table.primaryKey("id", .integer)
      table.column("title", .text).notNull()
      table.column("seconds", .integer).notNull()
    }
    try database.create(table: "playlist") { table in
      table.primaryKey("id", .integer)
      table.column("title", .text).notNull()
    }
    try database.create(table: "entry", options: .withoutRowID) { table in
      table.column("playlist", .integer).notNull()
      table.column("position", .integer).notNull()
      table.column("song", .integer).notNull()
      table.primaryKey(["playlist", "position"])
    }
    try database.create(table: "buffer", options: .withoutRowID) { table in
      table.primaryKey("name", .text)
      table.column("bytes", .blob).notNull()
    }
    try database.create(table: "item", options: .withoutRowID) { table in
      table.primaryKey("key", .text)
      table.column("value", .text).notNull()
      table.column("createdAt", .double).notNull()
      table.column("updatedAt", .double).notNull()
    }
  }
}

/// An error of a workload that did not do its work.
struct WrongResult: Error, CustomStringConvertible {
  let description: String
}

/// Verifies that the work was done.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw WrongResult(description: what()) }
}
