import Foundation
import PostgreSQLBackend
import StoredObjectsCore
import TestServer
import Testing

@Suite(
  "A full disk of PostgreSQL", .serialized, .needsServer,
  .enabled(if: SmallDisk.isAvailable, "only root can mount a small disk"))
struct DiskFullTests {
  /// The settings of a server that writes small files of its log, and removes them soon.
  private static let smallLog = "-c min_wal_size=2MB -c max_wal_size=4MB -c timezone=UTC"

  /// Returns text that the server can't compress.
  private func text(_ byteCount: Int) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom"))
    return try #require(try file.read(upToCount: byteCount * 3 / 4)).base64EncodedString()
  }

  @Test("A save that finds no room throws noSpace and changes nothing, and succeeds with room")
  func data() throws {
    let disk = try SmallDisk(megabytes: 72, name: "-data")
    defer { disk.close() }
    // The log has a disk of its own, and there are no checkpoints, or the server could end.
    let log = try TestServer.newDirectory("-wal")
    defer { try? FileManager.default.removeItem(atPath: log) }
    let server = try TestServer(
      at: disk.directory, creation: "--wal-segsize=1 --waldir=\(log)/wal",
      settings: "-c max_wal_size=1GB -c checkpoint_timeout=1h -c timezone=UTC")
    defer { server.stop() }
    let backend = try PostgreSQLBackend(server.url(), store: "Music")
    let store = Store(backend: backend)
    try store.register(Song.self)
    var titles: [UInt32: String] = [:]
    func save() throws {
      let song = Song()
      song.title = try text(300_000)
      store.insert(song)
      try store.saveChanges()
      titles[song.rowID] = song.title
    }
    try save()
    let first = backend.lastCommitNumber
    try disk.fill(leaving: 12)
    let error = storeError { while titles.count < 200 { try save() } }
    #expect(error?.code == .noSpace, "\(error.debugDescription)")
    #expect(error?.message.contains("Make room") == true)
    #expect(titles.count > 5)

    // Others see all that was saved, and nothing else.
    #expect(try storedTitles(server) == titles)
    #expect(backend.lastCommitNumber == first + UInt64(titles.count - 1))
    #expect(storeError { try store.saveChanges() }?.code == .noSpace)

    try disk.makeRoom()
    try store.saveChanges()
    #expect(!store.hasUnsavedChanges)
    #expect(try storedTitles(server).count == titles.count + 1)
    try save()
    #expect(try storedTitles(server).count == titles.count + 1)
    #expect(try store.check().isSound)
    backend.close()
  }

  /// The titles of all songs, read by another backend.
  private func storedTitles(_ server: TestServer) throws -> [UInt32: String] {
    let backend = try PostgreSQLBackend(server.url(), store: "Music")
    defer { backend.close() }
    let store = Store(backend: backend)
    try store.register(Song.self)
    let songs = try store.allObjects(of: Song.self)
    return Dictionary(uniqueKeysWithValues: songs.map { ($0.rowID, $0.title) })
  }

  @Test("If the disk of the log is full and the server ends, no acknowledged save is lost")
  func log() throws {
    let disk = try SmallDisk(megabytes: 10, name: "-log")
    defer { disk.close() }
    let server = try TestServer(
      at: TestServer.newDirectory("-small"),
      creation: "--wal-segsize=1 --waldir=\(disk.directory)/wal", settings: Self.smallLog)
    defer { server.stop() }
    var configuration = PostgreSQLConfiguration()
    (configuration.timeout, configuration.connectTimeout) = (.seconds(2), .seconds(2))
    func open() throws -> PostgreSQLBackend {
      try PostgreSQLBackend(server.url(), store: "Music", configuration: configuration)
    }
    let backend = try open()
    var saved: [UInt32: [UInt8]] = [:]
    var token = UUID()
    func save(_ byteCount: Int, _ backend: PostgreSQLBackend) throws {
      token = UUID()
      let bytes = Array(try text(byteCount).utf8)
      let row = UInt32(saved.count) + 2
      try backend.commit(
        change(.insert, row, bytes, backend.table(named: "Song")), CommitRequest(token: token))
      saved[row] = bytes
    }
    for _ in 0..<5 { try save(1000, backend) }
    try disk.fill(leaving: 0.5)
    let error = storeError { while saved.count < 50 { try save(1_000_000, backend) } }
    // The server ends in the middle of a save, so the backend doesn't know whether it was made. If it
    // has ended between two, no connection can be opened.
    #expect([.reopenNeeded, .ioError].contains(error?.code), "\(error.debugDescription)")
    if error?.code == .reopenNeeded { #expect(error?.message.contains("\(token)") == true) }
    backend.close()
    #expect(storeError { _ = try open() }?.code == .ioError)

    try disk.makeRoom()
    let other = try eventually(open)
    #expect(try other.commit(withToken: token) == nil)
    #expect(other.lastCommitNumber == UInt64(saved.count))
    #expect(try other.recordCount(in: other.table(named: "Song")) == saved.count)
    for (row, bytes) in saved {
      #expect(try other.record(row, in: other.table(named: "Song")) == bytes)
    }
    try save(1_000_000, other)
    #expect(other.lastCommitNumber == UInt64(saved.count))
    other.close()
  }

  /// Tries for a minute, because the server may still be starting.
  private func eventually<Result>(_ body: () throws -> Result) throws -> Result {
    let deadline = Date() + 60
    while true {
      do { return try body() } catch {
        if Date() > deadline { throw error }
        usleep(50_000)
      }
    }
  }
}
