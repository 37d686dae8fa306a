#if Macros
  import StoredObjects
  import StoredObjectsTestSupport
  import Testing

  /// A store on a disk in memory that other stores open later.
  struct Session {
    let backend: MemoryBackend
    let store: Store

    init(_ disk: MemoryDisk, _ classes: [StoredObject.Type]) throws {
      backend = try MemoryBackend(disk: disk)
      store = Store(backend: backend, configuration: .init(checksumsRecords: false))
      for type in classes { try store.register(type) }
    }

    /// Runs the body and closes the backend, as another process would.
    static func run<Value>(
      _ disk: MemoryDisk, _ classes: StoredObject.Type..., body: (Session) throws -> Value
    ) throws -> Value { try run(disk, classes, body: body) }

    /// Runs the body and closes the backend, as another process would.
    static func run<Value>(
      _ disk: MemoryDisk, _ classes: [StoredObject.Type], body: (Session) throws -> Value
    ) throws -> Value {
      let session = try Session(disk, classes)
      defer { session.backend.close() }
      return try body(session)
    }

    /// Inserts objects and saves them.
    func save(_ objects: StoredObject...) throws {
      for object in objects { store.insert(object) }
      try store.saveChanges()
    }

    /// Reads all objects of a class.
    func readAll(_ type: (some StoredObject).Type) throws {
      for object in try store.allObjects(of: type) { try object.fetchContent() }
    }

    /// The record of a row in hex, as in "00 2A".
    func record(_ type: StoredObject.Type, _ rowID: UInt32 = 2) throws -> String {
      let bytes = try backend.record(rowID, in: try backend.table(named: type.storedName)) ?? []
      return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        .joined(separator: " ").uppercased()
    }

    /// Puts a record in a row past the store, as an earlier program has left it.
    func plant(_ hex: String, _ type: StoredObject.Type, _ rowID: UInt32 = 2) throws {
      let digits = hex.compactMap(\.hexDigitValue)
      let bytes = stride(from: 0, to: digits.count, by: 2).map {
        UInt8(digits[$0] * 16 + digits[$0 + 1])
      }
      let table = try backend.table(named: type.storedName)
      try backend.commit { changes in changes.update(rowID, in: table, bytes) }
    }
  }
#endif
