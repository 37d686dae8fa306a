import Locks
import Synchronization

/// The observers of a store, and the changes that they are interested in.
final class KeyObservers: Sendable {
  typealias Continuation = AsyncStream<KeyValueChange>.Continuation

  private let list = Locked(List())
  private let count = Atomic(0)
  /// Called with true before the first observer starts, and with false after the last one ends.
  private let watcher = Locked<Watcher?>(nil)

  private struct Watcher {
    let change: @Sendable (_ isWatched: Bool) -> Void
    var isWatched = false
  }

  /// Sets a closure to call when the first observer starts and when the last one ends.
  func observeWatching(_ change: @escaping @Sendable (_ isWatched: Bool) -> Void) {
    watcher.withLock { $0 = Watcher(change: change) }
  }

  private func tellWatcher() {
    watcher.withLock { watcher in
      guard let known = watcher, known.isWatched != isWatched else { return }
      watcher?.isWatched.toggle()
      known.change(!known.isWatched)
    }
  }

  private struct List {
    var observers: [Int: Observer] = [:]
    var nextID = 0
    var isFinished = false
  }

  private struct Observer {
    /// The table; nil for all tables.
    let table: TableState?
    let interest: Interest
    let continuation: Continuation
  }

  /// The keys that an observer is interested in.
  enum Interest: Sendable {
    case all
    case key(String)
    case prefix(String)

    /// Returns whether to report a change; changes of the whole table are always reported.
    func covers(_ change: KeyValueChange) -> Bool {
      guard let key = change.key else { return true }
      switch self {
      case .all: return true
      case .key(let wanted): return key.utf8.elementsEqual(wanted.utf8)
      case .prefix(let prefix): return key.utf8.starts(with: prefix.utf8)
      }
    }
  }

  /// Whether there are observers.
  var isWatched: Bool { count.load(ordering: .acquiring) > 0 }

  /// Returns a stream of the changes from now on.
  func stream(
    of table: TableState?, _ interest: Interest,
    _ policy: Continuation.BufferingPolicy = .unbounded
  ) -> (AsyncStream<KeyValueChange>, Continuation) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: KeyValueChange.self, bufferingPolicy: policy)
    let id = list.withLock { list -> Int? in
      if list.isFinished || table?.isDropped == true { return nil }
      list.nextID += 1
      list.observers[list.nextID] = Observer(
        table: table, interest: interest, continuation: continuation)
      count.store(list.observers.count, ordering: .releasing)
      return list.nextID
    }
    guard let id else {
      continuation.finish()
      return (stream, continuation)
    }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    tellWatcher()
    return (stream, continuation)
  }

  private func remove(_ id: Int) {
    list.withLock { list in
      list.observers[id] = nil
      count.store(list.observers.count, ordering: .releasing)
    }
    tellWatcher()
  }

  /// Sends changes to the interested observers, in the order of the writes; the writer calls it.
  func publish(_ changes: [KeyValueChange], of table: TableState) {
    guard isWatched else { return }
    for observer in observers(of: table) {
      for change in changes where observer.interest.covers(change) {
        observer.continuation.yield(change)
      }
    }
  }

  private func observers(of table: TableState) -> [Observer] {
    list.withLock { list in
      list.observers.values.filter { $0.table == nil || $0.table === table }
    }
  }

  /// Ends the streams of a table.
  func finish(_ table: TableState) {
    // Outside of the lock, because ending a stream takes it.
    let ended = list.withLock { $0.observers.values.filter { $0.table === table } }
    for observer in ended { observer.continuation.finish() }
  }

  /// Ends all streams, and allows no new ones.
  func finish() {
    let ended = list.withLock { list in
      list.isFinished = true
      return Array(list.observers.values)
    }
    for observer in ended { observer.continuation.finish() }
  }
}

extension KeyValueStore {
  /// Returns the changes of all tables from now on.
  ///
  ///     for await change in store.changes() { print(change.table, change.key ?? "") }
  ///
  /// Complexity: As ``table(_:)``.
  public func changes() -> KeyValueChanges {
    hearOfOthers()
    let stream = observers.stream(of: nil, .all).0
    // Changes of a table are published only if the store knows the table.
    readList()
    return KeyValueChanges(stream: stream)
  }
}

extension KeyValueTable {
  /// Returns the changes of the table from now on.
  ///
  /// Complexity: Constant time; on a server, one round trip at most.
  public func changes() -> KeyValueChanges {
    store.hearOfOthers()
    return KeyValueChanges(stream: store.observers.stream(of: state, .all).0)
  }

  /// Returns the changes of keys that begin with a text, from now on.
  ///
  /// Complexity: Constant time; on a server, one round trip at most.
  public func changes(prefix: String) -> KeyValueChanges {
    store.hearOfOthers()
    return KeyValueChanges(stream: store.observers.stream(of: state, .prefix(prefix)).0)
  }

  /// Returns the current value of a key, and its value after each change.
  ///
  ///     for try await size in settings.values(of: "font size", as: Double.self) {
  ///       label.font = .system(size ?? 12)
  ///     }
  ///
  /// The sequence reports an expired item when the item is removed.
  public func values<Value: Decodable & Sendable>(
    of key: String, as type: Value.Type = Value.self
  ) -> KeyValueUpdates<Value> {
    let (stream, continuation) = store.observers.stream(of: state, .key(key), .bufferingNewest(1))
    continuation.yield(KeyValueChange(.put, name, key))
    return KeyValueUpdates(stream: stream, table: self, key: key)
  }
}
