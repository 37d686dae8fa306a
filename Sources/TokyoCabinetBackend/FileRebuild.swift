import Files
import StoredObjectsCore
import TokyoCabinetFile

/// Writes a class file anew, with changes: in one pass over the old one, without the C library.
struct FileRebuild {
  /// The file as it is; nil when there is none.
  let old: HashFile?
  /// The layout of the new file.
  let layout: HashFileLayout
  /// Where the new file is made.
  let path: String
  let isSynced: Bool

  /// Copies the records as they are.
  ///
  /// Complexity: linear in the size of the file.
  func run() throws {
    var changes = NameChanges([])
    try run([], &changes)
  }

  /// Copies the records that do not change, and those that do from the changes.
  ///
  /// Complexity: linear in the sizes of the file and the changes.
  func run(_ bytes: [UInt8], _ changes: inout some KeyedChanges) throws {
    try removeFile(path)
    let writer = try HashFileWriter(path, layout: layout)
    var count = 0
    try old?.forEach { key, value in
      count += 1
      switch try changes.take(key) {
      case .none: try writer.append(key: key, value: value)
      case .deleted: break
      case .written(let range):
        try bytes.lend(range) { try writer.append(key: key, value: $0) }
      }
    }
    if let old, count != old.count {
      throw StoreError(
        .damaged, "The file has \(count) records, and should have \(old.count). Salvage the store.",
        at: .init(path: old.path))
    }
    try changes.forEachLeft { key, range in
      try bytes.lend(range) { try writer.append(key: key, value: $0) }
    }
    try writer.finish(synchronized: isSynced)
  }
}

/// What becomes of a key.
enum KeyChange {
  case none, deleted
  case written(Range<Int>)
}

/// Changes that are found by their keys, as the old file has them.
protocol KeyedChanges {
  /// The change of a key that the file has; it is taken out.
  ///
  /// - Throws: `rowExists` for the insert of a row.
  mutating func take(_ key: RawSpan) throws -> KeyChange
  /// Lends the keys, in the order of the changes, that are written and were not taken.
  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws
}

/// The changes of a table.
struct RowChanges: KeyedChanges {
  private let changes: [ChangeSet.RecordChange]
  private let file: TableFile
  /// For each row the number of its change from 1 on, 0 for none; where rows lie close together.
  private var dense: [UInt32] = []
  private var sparse: [UInt32: UInt32] = [:]
  private let isIndexed: Bool

  /// Takes changes; `isIndexed` tells whether there is a file to take changes for.
  init(_ changes: [ChangeSet.RecordChange], file: TableFile, isIndexed: Bool) {
    self.changes = changes
    self.file = file
    self.isIndexed = isIndexed
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

  mutating func take(_ key: RawSpan) throws -> KeyChange {
    guard let row = rowID(ofKey: key), let number = takeNumber(row) else { return .none }
    let change = changes[number - 1]
    switch change.kind {
    case .insert: throw file.rowExists(row)
    case .update: return .written(change.range)
    case .delete: return .deleted
    }
  }

  private mutating func takeNumber(_ row: UInt32) -> Int? {
    if dense.isEmpty { return sparse.removeValue(forKey: row).map { Int($0) } }
    guard Int(row) < dense.count, dense[Int(row)] != 0 else { return nil }
    defer { dense[Int(row)] = 0 }
    return Int(dense[Int(row)])
  }

  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for change in changes where change.kind != .delete && isLeft(change.rowID) {
      try withKey(of: change.rowID) { try body($0, change.range) }
    }
  }

  private func isLeft(_ row: UInt32) -> Bool {
    if !isIndexed { return true }
    return dense.isEmpty ? sparse[row] != nil : dense[Int(row)] != 0
  }
}

/// The changes of the named buffers.
struct NameChanges: KeyedChanges {
  private var changes: [[UInt8]: Range<Int>?] = [:]
  private let names: [[UInt8]]

  init(_ changes: [ChangeSet.NameChange]) {
    names = changes.map { Array($0.name.utf8) }
    for (name, change) in zip(names, changes) { self.changes[name] = .some(change.range) }
  }

  mutating func take(_ key: RawSpan) throws -> KeyChange {
    if changes.isEmpty { return .none }
    guard let change = changes.removeValue(forKey: [UInt8](copying: key)) else { return .none }
    return change.map { .written($0) } ?? .deleted
  }

  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for name in names {
      guard let range = changes[name] ?? nil else { continue }
      try name.lend { try body($0, range) }
    }
  }
}
