// The code of the pages of StoreEngine, unchanged. It is compiled, and not run.

#if Macros
  import CDBBackend
  import Foundation
  import StoredObjects
  import StoredObjectsEncryption

  /// From StoreEngine.md.
  enum EngineExamples {
    static func save() throws {
      let backend = try MemoryBackend()
      let table = try backend.table(named: "Log")
      var changes = ChangeSet(bytes: Array("hello".utf8))
      changes.tables = [
        .init(table: table, records: [.init(kind: .insert, rowID: 2, range: 0..<5)])
      ]
      try backend.commit(changes)
    }
  }

  /// From Commits.md.
  enum CommitExamples {
    static func name(_ backend: any StoreBackend) throws {
      let configuration = StoreConfiguration(author: "import")
      let store = Store(backend: backend, configuration: configuration)
      // …
      try store.saveChanges()
      if let commit = store.lastCommit {
        print("\(commit.author) saved commit \(commit.number), \(commit.token)")
      }
    }

    static func watch(_ backend: any StoreBackend) throws {
      let number = backend.lastCommitNumber
      // Read, and wait for something to happen.
      if backend.lastCommitNumber != number {
        for table in try backend.changes(since: number).tables {
          print("\(table.written.count) rows are new or changed, \(table.deleted.count) are gone")
        }
      }
    }

    static func compete(_ backend: any StoreBackend, _ changes: ChangeSet) throws {
      var request = CommitRequest(author: "counter")
      request.basis = CommitBasis(upTo: backend.lastCommitNumber)
      // Read what you need, and make the change set of it.
      do {
        try backend.commit(changes, request)
      } catch {
        guard error.code == .conflict else { throw error }
        let conflict = error.underlying as? CommitConflict
        print("Others have changed \(conflict?.rows ?? [])")
      }
    }

    actor Library {
      private let executor = ThreadExecutor()
      nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

      private let store: Store
      init(backend: any StoreBackend) { store = Store(backend: backend) }
    }

    static func repeatAfterFailure(
      _ backend: any StoreBackend, _ changes: ChangeSet, _ reopen: () throws -> any StoreBackend
    ) throws {
      let token = UUID()
      do {
        try backend.commit(changes, CommitRequest(token: token))
      } catch {
        guard error.code == .reopenNeeded else { throw error }
        let backend = try reopen()
        if try backend.commit(withToken: token) == nil { print("Nothing was saved.") }
      }
    }
  }

  /// From Encryption.md and Security.md.
  enum EncryptionExamples {
    static func open(_ phrase: String) throws {
      let key = EncryptionKey(passphrase: phrase)
      let backend = try TokyoCabinetBackend(directory: "Music", key: key)
      let store = Store(backend: backend)
      _ = store
    }

    static func change(_ old: String, _ new: String, _ key: EncryptionKey) throws {
      try TokyoCabinetBackend.changeKey(
        directory: "Music", from: EncryptionKey(passphrase: old),
        to: EncryptionKey(passphrase: new))

      try TokyoCabinetBackend.encrypt(directory: "Music", key: key)
      try TokyoCabinetBackend.decrypt(directory: "Music", key: key)
    }
  }

  /// From Processes.md.
  enum ProcessExamples {
    static func wait() throws {
      var configuration = TokyoCabinetBackend.Configuration()
      configuration.lockTimeout = .seconds(5)
      let backend = try TokyoCabinetBackend(directory: "Music", configuration: configuration)
      _ = backend
    }

    static func read() throws {
      let backend = try TokyoCabinetBackend(
        directory: "Music", configuration: .init(access: .readOnly))
      _ = backend
    }

    static func share() throws {
      var configuration = TokyoCabinetBackend.Configuration()
      configuration.sharing = .processes
      let backend = try TokyoCabinetBackend(directory: "Music", configuration: configuration)
      let store = Store(backend: backend)
      _ = store
    }
  }

  /// From WritingABackend.md.
  final class ServerBackendExample {
    let coordinator = StoreCoordinator()
    let location = "server"
    let names:
      (
        table: (TableID) throws(StoreError) -> String,
        ordered: (OrderedTableID) throws(StoreError) -> String
      ) = ({ _ in "Song" }, { _ in "Words" })
    func write(_ changes: ChangeSet, _ commit: Commit) throws(StoreError) {}

    func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
      try coordinator.perform(changes, request, at: location, names: names) {
        (commit) throws(StoreError) in
        try write(changes, commit)
      }
    }

    func serverErrors<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
      do {
        return try body()
      } catch let error as StoreError {
        throw error
      } catch {
        throw StoreError(.ioError, "The server doesn't answer: try again.", underlying: error)
      }
    }
  }

  /// The format of WritingABackend.md.
  public typealias MyFormat = CDBClassFormat

  /// The backend of WritingABackend.md.
  public typealias MyBackend = LoggedBackend<MyFormat>

  /// From WritingABackend.md.
  enum BackendUseExamples {
    static func title(_ record: RawSpan) throws(StoreError) -> String { "\(record.byteCount)" }

    static func read(_ backend: any StoreBackend, _ songs: TableID) throws {
      let size = try backend.withRecord(2, in: songs) { $0.byteCount }
      let name = try backend.withRecord(2, in: songs) { (record) throws(StoreError) in
        try title(record)
      }
      _ = (size, name)
    }

    static func order(_ backend: any StoreBackend) throws {
      let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
      var changes = ChangeSet()
      changes.set(Array("swift".utf8), to: [1], in: words)
      try backend.commit(changes)
      _ = try backend.scanKeys(
        of: words, .prefix(Array("sw".utf8)), isReversed: false
      ) { key, value in
        print(key.byteCount)
        return .next
      }
    }
  }

  /// From Concurrency.md.
  enum MergeExamples {
    @Stored final class Account: StoredObject {
      var balance = 0

      override func merge(base: StoredObject, theirs: StoredObject) -> Bool {
        guard let base = base as? Account, let theirs = theirs as? Account else { return false }
        balance += theirs.balance - base.balance
        return true
      }
    }
  }
#endif
