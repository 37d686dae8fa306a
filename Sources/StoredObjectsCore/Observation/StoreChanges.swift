import StoreEngine

/// The changes of a single save, class by class.
///
///     for await changes in store.committedChanges() {
///       for rowID in changes[Song.self].inserted { print("new: \(rowID)") }
///     }
public struct StoreChanges: Sendable {
  private let classes: [ObjectIdentifier: Rows]
  /// Whether other processes have made changes that are not listed: read again what matters to you.
  ///
  /// This happens only if this process was held up so long that the others have rewritten the
  /// store's files meanwhile.
  public let isIncomplete: Bool

  /// The rows of a class that a save has changed, each list in the order of the changes.
  public struct Rows: Sendable, Hashable {
    /// Rows that were inserted.
    public internal(set) var inserted: [UInt32] = []
    /// Rows whose content was changed.
    public internal(set) var updated: [UInt32] = []
    /// Rows that were deleted.
    public internal(set) var deleted: [UInt32] = []

    /// A Boolean value that indicates whether the save has changed nothing in the class.
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

  /// Changes of which nothing is known.
  static let unknown = StoreChanges()

  private init() { (classes, isIncomplete) = ([:], true) }

  /// Accesses the changes to a class, not to its subclasses.
  public subscript(_ type: StoredObject.Type) -> Rows { classes[ObjectIdentifier(type)] ?? Rows() }

  /// A Boolean value that indicates whether the save has changed no object.
  public var isEmpty: Bool { classes.isEmpty && !isIncomplete }

  /// Returns whether objects of a class have changed.
  public func contains(_ type: StoredObject.Type) -> Bool { classes[ObjectIdentifier(type)] != nil }
}

/// The changes of a store, one element for each save; see ``Store/committedChanges()``.
public struct CommittedChanges: AsyncSequence, Sendable {
  private let stream: AsyncStream<StoreChanges>

  init(_ stream: AsyncStream<StoreChanges>) { self.stream = stream }

  /// An iterator that waits for saves.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<StoreChanges>.AsyncIterator

    /// Waits for the next save and returns its changes; nil once the store has been freed.
    ///
    /// Complexity: constant time, after the wait for a save.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> StoreChanges? { await iterator.next(isolation: actor) }
  }

  /// Returns an iterator that starts with the first save that has not been consumed.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator())
  }
}

extension Store {
  /// Returns the changes of all saves of this store from now on, for one listener.
  ///
  /// The listener misses no save: changes that have not been consumed are kept in memory. It can be
  /// in another isolation domain, where a store of its own has the objects by their row IDs. The
  /// sequence ends with the store. It does not include saves of other stores; see
  /// ``mergeChanges()``.
  ///
  /// Complexity: each save makes a list of its rows if there is a listener.
  public func committedChanges() -> CommittedChanges {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreChanges.self)
    listeners.append(continuation)
    return CommittedChanges(stream)
  }

  /// Passes the changes of a save to the listeners.
  func publish(_ changes: ChangeSet) {
    guard !listeners.isEmpty else { return }
    let published = StoreChanges(changes, classes.map { ($0.table, $0.type) })
    listeners.removeAll { listener in
      if case .terminated = listener.yield(published) { true } else { false }
    }
  }
}
