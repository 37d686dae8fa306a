// Generic code in the modules of the backends uses these types. It is three times as fast if the
// compiler can specialize it, which requires inlinable code.

import Files

/// The keys that a file format uses for row IDs.
@usableFromInline package protocol RowKeys {
  /// Calls a closure with the key of a row.
  static func lend<Result, Failure: Error>(
    _ rowID: UInt32, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result
  /// Returns the row of a key; nil if it is not the key of a row.
  static func rowID(_ key: RawSpan) -> UInt32?
}

/// The change of a key.
@usableFromInline package enum KeyChange {
  case none, deleted
  case written(Range<Int>)
}

/// Changes to a file that is being rewritten, looked up by the keys of the old file.
@usableFromInline package protocol KeyedChanges {
  /// The number of changes.
  var count: Int { get }
  /// Returns the change of a key in the old file, and records that the file has the key.
  ///
  /// - Throws: ``StoreError`` with `rowExists` if the change inserts the row.
  mutating func take(_ key: RawSpan) throws(StoreError) -> KeyChange
  /// Returns the change of a key again.
  func change(of key: RawSpan) -> KeyChange
  /// Calls a closure with the keys to write that were not taken, in the order of the changes.
  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws
}

/// The changes of a table.
@usableFromInline package struct RowChanges<Keys: RowKeys>: KeyedChanges {
  @usableFromInline let changes: [ChangeSet.RecordChange]
  @usableFromInline let isIndexed: Bool
  /// The number of each row's change, from 1, or 0 for none; used if the rows lie close together.
  @usableFromInline var dense: [UInt32] = []
  @usableFromInline var sparse: [UInt32: UInt32] = [:]
  /// For each change, whether the file has its row.
  @usableFromInline var isTaken: [Bool] = []
  @inlinable package var count: Int { changes.count }
  private let rowExists: (UInt32) -> StoreError

  /// Creates an index of changes.
  ///
  /// - Parameters:
  ///   - changes: The changes, at most one for each row.
  ///   - isIndexed: Whether there is an old file whose keys will be looked up.
  ///   - rowExists: Returns the error of an insert whose row exists.
  package init(
    _ changes: [ChangeSet.RecordChange], isIndexed: Bool,
    rowExists: @escaping (UInt32) -> StoreError
  ) {
    (self.changes, self.isIndexed, self.rowExists) = (changes, isIndexed, rowExists)
    guard isIndexed else { return }
    isTaken = [Bool](repeating: false, count: changes.count)
    let last = changes.reduce(0) { max($0, Int($1.rowID)) }
    if last <= 16 * changes.count + 4096 {
      dense = [UInt32](repeating: 0, count: last + 1)
      for (index, change) in changes.enumerated() { dense[Int(change.rowID)] = UInt32(index) + 1 }
    } else {
      sparse.reserveCapacity(changes.count)
      for (index, change) in changes.enumerated() { sparse[change.rowID] = UInt32(index) + 1 }
    }
  }

  @inlinable
  package mutating func take(_ key: RawSpan) throws(StoreError) -> KeyChange {
    guard let row = Keys.rowID(key), let index = index(of: row) else { return .none }
    if changes[index].kind == .insert { throw error(row) }
    isTaken[index] = true
    return change(at: index)
  }

  @usableFromInline func error(_ row: UInt32) -> StoreError { rowExists(row) }

  @inlinable
  package func change(of key: RawSpan) -> KeyChange {
    guard let row = Keys.rowID(key), let index = index(of: row) else { return .none }
    return change(at: index)
  }

  @inlinable
  func change(at index: Int) -> KeyChange {
    changes[index].kind == .delete ? .deleted : .written(changes[index].range)
  }

  @inlinable
  func index(of row: UInt32) -> Int? {
    if dense.isEmpty { return sparse[row].map { Int($0) - 1 } }
    guard Int(row) < dense.count, dense[Int(row)] != 0 else { return nil }
    return Int(dense[Int(row)]) - 1
  }

  @inlinable
  package func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for index in changes.indices where changes[index].kind != .delete {
      if isIndexed, isTaken[index] { continue }
      try Keys.lend(changes[index].rowID) { try body($0, changes[index].range) }
    }
  }
}

/// The changes of the named buffers, whose keys are the names in UTF-8.
@usableFromInline package struct NameChanges: KeyedChanges {
  @usableFromInline let changes: [ChangeSet.NameChange]
  /// The indexes of the changes in the order of the names' bytes; empty if there is no old file.
  private let order: [Int]
  /// For each change, whether the file has its name.
  @usableFromInline var isTaken: [Bool]
  @inlinable package var count: Int { changes.count }

  /// Creates an index of changes.
  ///
  /// - Parameters:
  ///   - changes: The changes, at most one for each name.
  ///   - isIndexed: Whether there is an old file whose keys will be looked up.
  package init(_ changes: [ChangeSet.NameChange], isIndexed: Bool) {
    self.changes = changes
    order = isIndexed ? ExactName.indicesInOrder(changes.count) { changes[$0].name } : []
    isTaken = [Bool](repeating: false, count: changes.count)
  }

  @usableFromInline
  package mutating func take(_ key: RawSpan) throws(StoreError) -> KeyChange {
    guard let index = index(of: key) else { return .none }
    isTaken[index] = true
    return change(at: index)
  }

  @usableFromInline
  package func change(of key: RawSpan) -> KeyChange {
    index(of: key).map { change(at: $0) } ?? .none
  }

  private func change(at index: Int) -> KeyChange {
    changes[index].range.map { .written($0) } ?? .deleted
  }

  private func index(of key: RawSpan) -> Int? {
    var rest = order[...]
    while !rest.isEmpty {
      let middle = rest.startIndex + rest.count / 2
      let comparison = changes[order[middle]].name.lendUTF8 { $0.compare(key) }
      if comparison == 0 { return order[middle] }
      rest = comparison < 0 ? rest[(middle + 1)...] : rest[..<middle]
    }
    return nil
  }

  @usableFromInline
  package func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for (index, change) in changes.enumerated() where !isTaken[index] {
      guard let range = change.range else { continue }
      try change.name.lendUTF8 { try body($0, range) }
    }
  }
}
