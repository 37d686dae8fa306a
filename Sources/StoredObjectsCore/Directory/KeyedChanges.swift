import Files

/// How a file format makes keys of row IDs.
package protocol RowKeys {
  /// Lends the key of a row.
  static func lend<Result>(_ rowID: UInt32, _ body: (RawSpan) throws -> Result) rethrows -> Result
  /// The row that a key stands for; nil when it is no key of a row.
  static func rowID(_ key: RawSpan) -> UInt32?
}

/// What becomes of a key.
package enum KeyChange {
  case none, deleted
  case written(Range<Int>)
}

/// Changes that are found by their keys, as the old file has them, while it is written anew.
package protocol KeyedChanges {
  /// The change of a key that the file has; it is taken out.
  ///
  /// - Throws: `rowExists` for the insert of a row.
  mutating func take(_ key: RawSpan) throws -> KeyChange
  /// Lends the keys, in the order of the changes, that are written and were not taken.
  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws
}

/// The changes of a table.
package struct RowChanges<Keys: RowKeys>: KeyedChanges {
  @usableFromInline let changes: [ChangeSet.RecordChange]
  @usableFromInline let isIndexed: Bool
  /// For each row the number of its change from 1 on, 0 for none; where rows lie close together.
  @usableFromInline var dense: [UInt32] = []
  @usableFromInline var sparse: [UInt32: UInt32] = [:]
  private let rowExists: (UInt32) -> StoreError

  /// Takes changes.
  ///
  /// - Parameters:
  ///   - changes: At most one for each row.
  ///   - isIndexed: Whether there is a file to take changes for.
  ///   - rowExists: The error of an insert that meets a row.
  package init(
    _ changes: [ChangeSet.RecordChange], isIndexed: Bool,
    rowExists: @escaping (UInt32) -> StoreError
  ) {
    (self.changes, self.isIndexed, self.rowExists) = (changes, isIndexed, rowExists)
    guard isIndexed else { return }
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
  package mutating func take(_ key: RawSpan) throws -> KeyChange {
    guard let row = Keys.rowID(key), let number = takeNumber(row) else { return .none }
    let change = changes[number - 1]
    switch change.kind {
    case .insert: throw error(row)
    case .update: return .written(change.range)
    case .delete: return .deleted
    }
  }

  @usableFromInline func error(_ row: UInt32) -> StoreError { rowExists(row) }

  @inlinable
  mutating func takeNumber(_ row: UInt32) -> Int? {
    if dense.isEmpty { return sparse.removeValue(forKey: row).map { Int($0) } }
    guard Int(row) < dense.count, dense[Int(row)] != 0 else { return nil }
    defer { dense[Int(row)] = 0 }
    return Int(dense[Int(row)])
  }

  @inlinable
  package func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for change in changes where change.kind != .delete && isLeft(change.rowID) {
      try Keys.lend(change.rowID) { try body($0, change.range) }
    }
  }

  @inlinable
  func isLeft(_ row: UInt32) -> Bool {
    if !isIndexed { return true }
    return dense.isEmpty ? sparse[row] != nil : dense[Int(row)] != 0
  }
}

/// The changes of the named buffers, whose keys are the names in UTF-8.
package struct NameChanges: KeyedChanges {
  private var changes: [[UInt8]: Range<Int>?] = [:]
  private let names: [[UInt8]]

  /// Takes changes, at most one for each name.
  package init(_ changes: [ChangeSet.NameChange]) {
    names = changes.map { Array($0.name.utf8) }
    for (name, change) in zip(names, changes) { self.changes[name] = .some(change.range) }
  }

  package mutating func take(_ key: RawSpan) throws -> KeyChange {
    if changes.isEmpty { return .none }
    guard let change = changes.removeValue(forKey: [UInt8](copying: key)) else { return .none }
    return change.map { .written($0) } ?? .deleted
  }

  package func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for name in names {
      guard let range = changes[name] ?? nil else { continue }
      try name.lend { try body($0, range) }
    }
  }
}
