internal import Files
internal import Locks

extension CDBStore {
  /// The keys, unsaved changes included: those of the file in its order, then those that are new.
  ///
  /// It is of the moment at which it is asked for, and later changes don't disturb it. A key that
  /// can't be read ends it, and ``failure`` says why; on a closed store it is empty.
  public var keys: AnySequence<Key> {
    sequence { try $0.decode(key: $1.key) }
  }

  /// The values, unsaved changes included, in the order of ``keys``.
  ///
  /// A value that can't be read ends it, and ``failure`` says why; ``forEach(_:)`` throws it.
  public var values: AnySequence<Value> {
    sequence { try $0.value($1) }
  }

  /// Calls a closure with each key and value, unsaved changes included, in the order of ``keys``.
  ///
  /// The closure may call the store.
  ///
  /// - Throws: ``CDBError`` with `notDecodable`, `damaged` or `closed`, and what the closure throws.
  public func forEach(_ body: (Key, Value) throws -> Void) throws {
    var walk = try walk()
    while let entry = try walk.next() {
      try body(try decode(key: entry.key), try value(entry))
    }
  }

  /// All keys and values in memory: think of the size of the file.
  ///
  /// - Throws: ``CDBError`` with `notDecodable`, `damaged` or `closed`.
  public func allKeysAndValues() throws -> [Key: Value] {
    var all: [Key: Value] = [:]
    try forEach { all[$0] = $1 }
    return all
  }

  // MARK: The walk

  /// A place in the walk over the records of the file and the changes.
  struct Entry {
    let key: [UInt8]
    let change: Change?
    let cursor: CDBCursor?
  }

  struct Walk {
    let reader: CDBReader?
    let changes: [[UInt8]: Change]
    var cursor: CDBCursor?
    var added: ArraySlice<[UInt8]>?

    mutating func next() throws -> Entry? {
      while try cursor?.next() == true, let cursor {
        let key = cursor.key
        // Of several records of a key the first one counts.
        guard try reader?.isFirst(cursor) == true else { continue }
        let change = changes[key]
        if let change, change.value == nil { continue }
        return Entry(key: key, change: change, cursor: cursor)
      }
      if added == nil { added = try addedKeys() }
      return added?.popFirst().map { Entry(key: $0, change: changes[$0], cursor: nil) }
    }

    private func addedKeys() throws -> ArraySlice<[UInt8]> {
      let keys = try changes.filter { $0.value.value != nil }.keys
        .filter { try reader?.contains($0) != true }
      return keys.sorted { $0.lexicographicallyPrecedes($1) }[...]
    }
  }

  private func walk() throws -> Walk {
    try state.withLock { state in
      try checkOpen(state)
      return Walk(reader: state.reader, changes: state.changes, cursor: state.reader?.cursor())
    }
  }

  private func value(_ entry: Entry) throws -> Value {
    if let value = entry.change?.value { return value }
    if let value = state.withLock({ $0.cache[entry.key] }) { return value }
    guard let cursor = entry.cursor else {
      throw CDBError(.damaged, path: path, message: "A key has no value.", key: entry.key)
    }
    return try cursor.withValue { try decode($0, entry.key) }
  }

  private func sequence<Element>(
    _ element: @escaping (CDBStore, Entry) throws -> Element
  ) -> AnySequence<Element> {
    AnySequence { () -> AnyIterator<Element> in
      var walk = try? self.walk()
      return AnyIterator {
        do {
          guard let entry = try walk?.next() else { return nil }
          return try element(self, entry)
        } catch {
          self.note(error)
          walk = nil
          return nil
        }
      }
    }
  }
}
