import Locks
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

/// Memory that outlives stores, and a backend on it that can be made to fail.
final class Fixture {
  let disk = MemoryDisk()
  private(set) var backend: FailingBackend
  private let classes: [StoredObject.Type]
  /// Faults can't be read without their store, so stores stay unless a test wants them gone.
  var keepsStores = true
  private var stores: [Store] = []

  static let allClasses: [StoredObject.Type] = [
    Song.self, Playlist.self, Node.self, Stubborn.self,
  ]

  init(_ classes: StoredObject.Type...) throws {
    self.classes = classes.isEmpty ? Self.allClasses : classes
    backend = FailingBackend(try MemoryBackend(disk: disk))
  }

  /// Another store on the same backend.
  ///
  /// Records have no checksums, so that tests can plant others.
  func store(
    _ configuration: StoreConfiguration = .init(checksumsRecords: false)
  ) throws -> Store {
    let store = Store(backend: backend, configuration: configuration)
    for type in classes { try store.register(type) }
    if keepsStores { stores.append(store) }
    return store
  }

  /// Opens the store again, as a new process does.
  func reopen() throws {
    try backend.close()
    backend = FailingBackend(try MemoryBackend(disk: disk))
  }

  /// A store that has been saved with these songs.
  func store(songs titles: String...) throws -> (Store, [Song]) {
    let store = try store()
    let songs = titles.map { Song($0, UInt32($0.utf8.count)) }
    for song in songs { store.insert(song) }
    try store.saveChanges()
    return (store, songs)
  }

  /// The record of a row as it is on disk.
  func record(_ type: StoredObject.Type, _ rowID: UInt32) throws -> [UInt8]? {
    try backend.base.record(rowID, in: try backend.table(named: type.storedName))
  }

  /// Changes a record on the disk, as no commit does.
  func overwrite(_ type: StoredObject.Type, _ rowID: UInt32, _ record: [UInt8]?) throws {
    let change = ChangeSet.RecordChange(
      kind: record == nil ? .delete : .update, rowID: rowID, range: 0..<(record?.count ?? 0))
    let changes = ChangeSet.TableChanges(
      table: try backend.table(named: type.storedName), records: [change])
    disk.contents.withLock {
      $0.tables[type.storedName, default: MemoryTable()].apply(changes, record ?? [])
    }
  }

  /// The titles of all songs on disk, as a store of its own sees them.
  func savedTitles() throws -> [String] {
    try store().allObjects(of: Song.self).map(\.title)
  }
}

/// Expects a `StoreError` of one kind, and gives it.
@discardableResult
func expectStoreError(
  _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) -> StoreError? {
  let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
  #expect(error?.code == code, sourceLocation: sourceLocation)
  return error
}
