import StoreEngine

/// What one save has changed, class by class.
///
///     for await changes in store.committedChanges() {
///       for rowID in changes[Song.self].inserted { print("new: \(rowID)") }
///     }
public struct StoreChanges: Sendable {
  private let classes: [ObjectIdentifier: Rows]
  /// Whether other processes have made more changes than are listed here: read again what matters.
  ///
  /// That happens only where this process was held up for so long that the others have rewritten
  /// the store's files meanwhile.
  public let isIncomplete: Bool

  /// The rows of one class that a save has changed, each in the order of the changes.
  public struct Rows: Sendable, Hashable {
    /// Rows that are new.
    public internal(set) var inserted: [UInt32] = []
    /// Rows whose content is another.
    public internal(set) var updated: [UInt32] = []
    /// Rows that are gone.
    public internal(set) var deleted: [UInt32] = []

    /// Whether the save has changed nothing of the class.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
  }

  init(_ changes: ChangeSet, _ registered: [(table: TableID, type: StoredObject.Type)]) {
    var classes: [ObjectIdentifier: Rows] = [:]
    for table in changes.tables {
      guard let entry = registered.first(where: { $0.table == table.table }) else { continue }
      var rows = Rows()
      for record in table.records where record.rowID > ClassMetadata.rowID {
        switch record.kind {
        case .insert: rows.inserted.append(record.rowID)
        case .update: rows.updated.append(record.rowID)
        case .delete: rows.deleted.append(record.rowID)
        }
      }
      if !rows.isEmpty { classes[ObjectIdentifier(entry.type)] = rows }
    }
    (self.classes, isIncomplete) = (classes, false)
  }

  /// Changes that nobody knows.
  static let unknown = StoreChanges()

  private init() { (classes, isIncomplete) = ([:], true) }

  /// What has changed of a class; not of its subclasses.
  public subscript(_ type: StoredObject.Type) -> Rows { classes[ObjectIdentifier(type)] ?? Rows() }

  /// Whether the save has changed no object.
  public var isEmpty: Bool { classes.isEmpty && !isIncomplete }

  /// Whether objects of a class have changed.
  public func contains(_ type: StoredObject.Type) -> Bool { classes[ObjectIdentifier(type)] != nil }
}

/// The changes of a store, save by save, see ``Store/committedChanges()``.
public struct CommittedChanges: AsyncSequence, Sendable {
  private let stream: AsyncStream<StoreChanges>

  init(_ stream: AsyncStream<StoreChanges>) { self.stream = stream }

  /// Waits for saves.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<StoreChanges>.AsyncIterator

    /// What the next save has changed; nil once the store is gone.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> StoreChanges? { await iterator.next(isolation: actor) }
  }

  /// Starts with the first save that was not waited for.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator())
  }
}

extension Store {
  /// What every save of this store changes from now on, for one listener.
  ///
  /// A listener misses nothing: what it has not taken yet is kept. It may live in another isolation
  /// domain, and finds the objects by their rows in a store of its own. The sequence ends with the
  /// store. Saves of other stores are told at ``mergeChanges()``.
  ///
  /// Complexity: each save makes a list of its rows, if anyone listens.
  public func committedChanges() -> CommittedChanges {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreChanges.self)
    listeners.append(continuation)
    return CommittedChanges(stream)
  }

  /// Tells listeners of a save.
  func publish(_ changes: ChangeSet) {
    guard !listeners.isEmpty else { return }
    let published = StoreChanges(changes, classes.map { ($0.table, $0.type) })
    listeners.removeAll { listener in
      if case .terminated = listener.yield(published) { true } else { false }
    }
  }
}
