internal import Files
internal import Locks

extension CDBStore {
  /// The keys, including unsaved changes: those of the file in its order, then new ones.
  ///
  /// The sequence is a snapshot, which later changes don't affect. A key that can't be read ends
  /// it, and sets ``failure``. On a closed store it is empty.
  public var keys: AnySequence<Key> {
    sequence { try $0.decode(key: $1.key) }
  }

  /// The values, including unsaved changes, in the order of ``keys``.
  ///
  /// A value that can't be read ends the sequence, and sets ``failure``; ``forEach(_:)`` throws the
  /// error.
  public var values: AnySequence<Value> {
    sequence { try $0.value($1) }
  }

  /// Calls a closure with each key and value, including unsaved changes, in the order of ``keys``.
  ///
  /// The closure may call the store.
  ///
  /// Complexity: linear in the file on average, and O(k log k) for k new keys, which are sorted.
  /// Values that were not read before are decoded.
  ///
  /// - Throws: ``CDBError`` with `notDecodable`, `damaged` or `closed`, or an error of the closure.
  public func forEach(_ body: (Key, Value) throws -> Void) throws {
    var walk = try walk()
    while let entry = try walk.next() {
      try body(try decode(key: entry.key), try value(entry))
    }
  }

  /// Returns all keys and values in memory, so consider the size of the file.
  ///
  /// Complexity: as ``forEach(_:)``. Memory: that of all keys and values.
  ///
  /// - Throws: ``CDBError`` with `notDecodable`, `damaged` or `closed`.
  public func allKeysAndValues() throws -> [Key: Value] {
    var all: [Key: Value] = [:]
    try forEach { all[$0] = $1 }
    return all
  }

  // MARK: The walk

  /// A position in the iteration over the records of the file and the changes.
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
        // Of several records with the same key, the first one counts.
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
