// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import CDB
  import Foundation

  enum CDBComments {
    static var store: CDBStringKeyStore = notRun()
    static var songs: CDBReader = notRun()
    static var writer: CDBWriter = notRun()
    static var image: Data = notRun()
    static var artist: Artist = notRun()
    static var payload: [UInt8] = notRun()
    static var rows: [Int] = notRun()
    static var index: CDBReader = notRun()
    static var key: [UInt8] = notRun()

    struct Artist: Codable { var name = "" }
    struct Song: Codable { var title = "" }
    struct Point {
      var bytes: [UInt8] { [] }
      init(_ bytes: RawSpan) throws {}
    }
    static func decode(_ bytes: RawSpan) -> Int { bytes.byteCount }

    /// From CDBError.swift.
    static func cdbErrorExample() throws {
      do {
        try writer.add("Bicycle Race", forKey: "song/2")
      } catch {
        guard error.code == .tooLarge else { throw error }
        try writer.finish()  // the earlier records are complete; continue in another file
      }
    }

    /// From CDBReader+Iterating.swift.
    static func cdbReaderIteratingExample() throws {
      var cursor = songs.cursor()
      while try cursor.next() { print(cursor.key) }
      _ = cursor
    }

    /// From CDBReader+LookingUp.swift.
    static func cdbReaderLookingUpExample() throws {
      try index.forEachValue(forKey: Array("Queen".utf8)) { row in rows.append(decode(row)) }
    }

    /// From CDBReader.swift.
    static func cdbReaderExample() throws {
      let songs = try CDBReader("Songs.cdb")
      let length = try songs.withValue(forKey: "song/2") { $0.byteCount }
      let title = try songs.value(forKey: "song/2").map { String(decoding: $0, as: UTF8.self) }
      try songs.forEach { key, value in print(key.byteCount, value.byteCount) }
      _ = (songs, length, title)
    }

    /// From CDBCodec.swift.
    enum CdbCodecExample {
      struct PointCodec: CDBValueCodec {
        func encode(_ point: Point) throws -> CDBEncodedValue {
          try CDBEncodedValue(tag: 32, bytes: point.bytes)
        }
        func decode(_ bytes: RawSpan, tag: UInt8) throws -> Point {
          guard tag == 32 else { throw CDBCodecError("a point has the tag 32, and this \(tag)") }
          return try Point(bytes)
        }
      }
    }

    /// From CDBStore.swift.
    static func cdbStoreExample() throws {
      let store = CDBStringKeyStore("Settings.cdb")
      try store.open()
      store["volume"] = 11
      store["title"] = "Bicycle Race"
      store["obsolete"] = nil
      try store.save()
      _ = store
    }

    /// From CDBStore.swift.
    static func cdbStore2Example() throws {
      let songs = CDBStore(
        "Songs.cdb", keys: CDBIntegerKeys<UInt32>(), values: CDBCodableValues<Song>())
      _ = songs
    }

    /// From CDBValue.swift.
    static func cdbValueExample() throws {
      store["title"] = "Bicycle Race"
      store["seconds"] = 180
      store["cover"] = .data(image)
      store["artist"] = try CDBValue(encoding: artist)
      let artist = try store["artist"]?.decode(Artist.self)
      _ = artist
    }

    /// From CDBWriter+Adding.swift.
    static func cdbWriterAddingExample() throws {
      try writer.add(pieces: [[32], payload], forKey: key)
    }
  }
#endif
