// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import Foundation
  import StoredObjects

  enum MigrationComments {
    static var store: Store = notRun()
    static var backend: TokyoCabinetBackend = notRun()
    static var migrations: [Migration] = notRun()
    static var record: StoredRecord = notRun()

    @Stored final class Artist: StoredObject {
      @Indexed(unique: true) var name = ""

      convenience init(name: String) {
        self.init()
        self.name = name
      }
    }

    @Stored final class Song: StoredObject { var artist: Artist? }
    @Stored final class Mixtape: StoredObject {}
    @Stored final class Track: StoredObject {}

    /// From StoredProperty.swift.
    @Values static func storedPropertyExample() throws -> [Any] {
      StoredProperty("title", String.self)
      StoredProperty("artist", Artist?.self).formerly("singer")
    }

    /// From StoredProperty.swift.
    @Values static func storedProperty2Example() throws -> [Any] {
      StoredProperty("duration", Double.self)
        .converted(to: Double.self, "seconds", from: UInt32.self) { Double($0) }
    }

    /// From DirectoryBackend+Rehearsing.swift.
    static func directoryBackendRehearsingExample() throws {
      let backend = try TokyoCabinetBackend(directory: "Music", configuration: .init(access: .readOnly))
      print(try backend.rehearse(migrations, registering: [Track.self, Artist.self]))
      _ = backend
    }

    /// From Migration.swift.
    static func migrationExample() throws {
      let migrations = [
        Migration("artists are objects") { migration in
          try migration.forEach(Song.self) { song, old in
            guard let name = try old.value("artistName", as: String.self) else { return }
            song.artist = try migration.store.insertOrUpdate(Artist(name: name))
          }
        },
        .rename("Playlist", to: "Mixtape"),
        .retire("Genre"),
      ]
      try store.migrate(migrations, registering: [Song.self, Artist.self, Mixtape.self])
      _ = migrations
    }

    /// From MigrationContext.swift.
    @Values static func migrationContextExample() throws -> [Any] {
      Migration("artists are objects") { migration in
        try migration.forEach(Song.self) { song, old in
          guard let name = try old.value("artistName", as: String.self) else { return }
          song.artist = try migration.store.insertOrUpdate(Artist(name: name))
        }
      }
    }

    /// From MigrationReport.swift.
    static func migrationReportExample() throws {
      let report = try backend.rehearse(migrations, registering: [Track.self, Artist.self])
      print(report)
      _ = report
    }

    /// From Store+Migrating.swift.
    static func storeMigratingExample() throws {
      try store.migrate(migrations, registering: [Song.self, Artist.self])
    }

    /// From StoredRecord.swift.
    static func storedRecordExample() throws {
      let name = try record.value("artistName", as: String.self)
      let genre = try record.id("genre")
      _ = (name, genre)
    }

    /// From Macros.swift.
    @Stored final class MacrosExample: StoredObject {
      @Formerly("remark") var note: String?
    }

    /// From Macros.swift.
    @Stored final class Macros2Example: StoredObject {
      @Converted(from: UInt32.self, by: { Double($0) }) var seconds: Double = 0
      @Converted("bytes", from: UInt32.self, by: { $0 / 1024 }) var kibibytes: UInt32 = 0
    }

    /// From Macros.swift.
    @Stored final class Macros3Example: StoredObject {
      @External(above: 4096) var cover = ExternalData()
      @External(above: 1 << 20) var pages: [ExternalData] = []
    }
  }
#endif
