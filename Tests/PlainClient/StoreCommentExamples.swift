// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import CDBBackend
  import Foundation
  import KeyValueStore
  import PostgreSQLBackend
  import StoredObjects
  import StoredObjectsEncryption

  enum StoreComments {
    static var store: Store = notRun()
    static var backend: TokyoCabinetBackend = notRun()
    static var song: Song = notRun()
    static var table: KeyValueTable = notRun()
    static var changes: ChangeSet = notRun()
    static var copy: TokyoCabinetBackend = notRun()
    static var commit: Commit = notRun()
    static var stream: [[UInt8]] = notRun()
    static var isWanted: Bool = notRun()
    static var key: [UInt8] = notRun()
    static var buffer: DataBuffer = notRun()
    static var old: TokyoCabinetBackend = notRun()
    static var new: TokyoCabinetBackend = notRun()

    struct Song { var recording = ExternalData() }
    enum Genre: UInt8, DataBufferValue { case pop }
    static func send(_ bytes: [UInt8]) {}
    static func upload(_ path: String) {}
    static func send(_ chunk: ArraySlice<UInt8>) {}

    /// From DataBufferValue.swift.
    static func dataBufferValueExample() throws {
      enum Genre: UInt8, DataBufferValue { case jazz, folk, opera }
    }

    /// From DataBufferValue.swift.
    enum DataBufferValue2Example {
      struct Size: DataBufferValue {
        var width, height: UInt32
        init(from buffer: inout DataBuffer) throws(DataBufferError) {
          width = try buffer.readUInt32()
          height = try buffer.readUInt32()
        }
        func write(to buffer: inout DataBuffer) {
          buffer.write(width)
          buffer.write(height)
        }
      }
    }

    /// From DataBufferValue.swift.
    static func dataBufferValue3Example() throws {
      let tags = try buffer.read([String].self)
      let genre = try buffer.read(Genre?.self)
      _ = (tags, genre)
    }

    /// From ClassFileFormat.swift.
    enum ClassFileFormatExample {
      public typealias CDBFiles = ClassFiles<CDBClassFormat>
      public typealias CDBBackend = LoggedBackend<CDBClassFormat>
    }

    /// From DirectoryBackend.swift.
    static func directoryBackendExample() throws {
      let backends: [any DirectoryBackend.Type] = [TokyoCabinetBackend.self, CDBBackend.self]
      let check = try backends[0].check(directory: "Music", key: nil) { _ in }
      _ = (backends, check)
    }

    /// From CommitRequest.swift.
    static func commitRequestExample() throws {
      var request = CommitRequest(author: "import")
      request.basis = CommitBasis(upTo: backend.lastCommitNumber)
      let commit = try backend.commit(changes, request)
      _ = (request, commit)
    }

    /// From LoggedBackend+Backup.swift.
    static func loggedBackendBackupExample() throws {
      try backend.backup(to: "Music backup")
    }

    /// From StoreError.swift.
    static func storeErrorExample() throws {
      do {
        try store.saveChanges()
      } catch {
        guard error.code == .noSpace else { throw error }
        print("No room left: \(error)")
      }
    }

    /// From ExternalReader.swift.
    static func externalReaderExample() throws {
      var reader = try song.recording.reader()
      while let chunk = try reader.next() { send(chunk) }
      _ = reader
    }

    /// From ContinuousBackup.swift.
    static func continuousBackupExample() throws {
      var backup = try ContinuousBackup(directory: "/backup/Music")
      while isWanted {
        for path in try backup.update(from: backend) { upload(path) }
        sleep(1)
      }
      _ = backup
    }

    /// From HistoryStreamWriter.swift.
    static func historyStreamWriterExample() throws {
      var writer = HistoryStreamWriter(behind: try backend.historyPosition(after: 17))
      try writer.write(backend) { bytes in send(bytes) }
      send(writer.end())
      _ = writer
    }

    /// From StoreFollower.swift.
    static func storeFollowerExample() throws {
      var follower = try StoreFollower(copy)
      for bytes in stream { try follower.apply(bytes) }     // from a HistoryStreamWriter
      try follower.finish()
      _ = follower
    }

    /// From StoreReplication.swift.
    static func storeReplicationExample() throws {
      let replication = try StoreReplication(of: backend, to: copy)
      // …
      replication.stop()
      _ = replication
    }

    /// From StoreBackend+HistoryConsumers.swift.
    static func storeBackendHistoryConsumersExample() throws {
      try backend.noteHistorySeen(by: "search engine", through: commit.number)
    }

    /// From StoreBackend+PurgingHistory.swift.
    static func storeBackendPurgingHistoryExample() throws {
      // Keeps two weeks, and all entries that the search engine has not seen.
      try backend.purgeHistory(keeping: HistoryRetention(age: .seconds(14 * 86_400)))
    }

    /// From BackendCheck.swift.
    static func backendCheckExample() throws {
      let check = try BackendCheck(backend).run()
      _ = check
    }

    /// From BackendCopy.swift.
    static func backendCopyExample() throws {
      try BackendCopy(from: old, to: new).run()
    }

    /// From LoggedBackend+Snapshot.swift.
    static func loggedBackendSnapshotExample() throws {
      let snapshot = try backend.snapshot()
      let store = Store(backend: snapshot)
      _ = (snapshot, store)
    }

    /// From MemoryBackend.swift.
    static func memoryBackendExample() throws {
      let disk = MemoryDisk()
      let first = try MemoryBackend(disk: disk)
      // save, close
      let second = try MemoryBackend(disk: disk)
      _ = (disk, first, second)
    }

    /// From KeyRange.swift.
    @Values static func keyRangeExample() throws -> [Any] {
      KeyRange(from: [1, 2], to: [1, 3])     // all keys that begin with 1, 2
      KeyRange.prefix([1, 2])                // the same
      KeyRange(after: key)                   // the keys after a key, for the next page
    }

    /// From StoredValue.swift.
    static func storedValueExample() throws {
      try table.put(["title": "Ada", "tags": ["x", "y"], "stars": 5] as StoredValue, for: "a")
      if case .dictionary(let fields)? = try table.value(for: "a") { print(fields.keys) }
    }

    /// From CDBBackend.swift.
    static func cdbBackendExample() throws {
      let backend = try CDBBackend(directory: "Music")
      let store = Store(backend: backend)
      _ = (backend, store)
    }

    /// From PostgreSQLBackend.swift.
    static func postgreSQLBackendExample() throws {
      let backend = try PostgreSQLBackend("postgresql://jukebox@db/music", store: "Music")
      let store = Store(backend: backend)
      _ = (backend, store)
    }
  }
#endif
