import Files
import StoredObjectsCore
import TokyoCabinetFile

/// Writes a class file anew, with changes: in two passes over the old one, without the C library.
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
  /// Goes through the file and the changes twice, see `HashFileWriter`.
  ///
  /// Complexity: linear in the sizes of the file and the changes.
  func run(_ bytes: [UInt8], _ changes: inout some KeyedChanges) throws {
    try removeFile(path)
    let writer = try HashFileWriter(path, plan(bytes, &changes))
    try old?.forEach { key, value in
      switch changes.change(of: key) {
      case .none: try writer.append(key: key, value: value)
      case .deleted: break
      case .written(let range):
        try bytes.lend(range) { try writer.append(key: key, value: $0) }
      }
    }
    try changes.forEachLeft { key, range in
      try bytes.lend(range) { try writer.append(key: key, value: $0) }
    }
    try writer.finish(synchronized: isSynced)
  }

  private func plan(_ bytes: [UInt8], _ changes: inout some KeyedChanges) throws -> HashFilePlan {
    var plan = try HashFilePlan(layout: layout, path: path)
    plan.reserveCapacity((old?.count ?? 0) + changes.count)
    var count = 0
    try old?.forEach { key, value in
      count += 1
      switch try changes.take(key) {
      case .none: try plan.add(key: key, value: value)
      case .deleted: break
      case .written(let range): try bytes.lend(range) { try plan.add(key: key, value: $0) }
      }
    }
    if let old, count != old.count {
      throw StoreError(
        .damaged, "The file has \(count) records, and should have \(old.count). Salvage the store.",
        at: .init(path: old.path))
    }
    try changes.forEachLeft { key, range in
      try bytes.lend(range) { try plan.add(key: key, value: $0) }
    }
    return plan
  }
}

/// What becomes of a key.
enum KeyChange {
  case none, deleted
  case written(Range<Int>)
}

/// Changes that are found by their keys, as the old file has them.
protocol KeyedChanges {
  /// How many there are.
  var count: Int { get }
  /// The change of a key that the file has; that it has it is noted.
  ///
  /// - Throws: `rowExists` for the insert of a row.
  mutating func take(_ key: RawSpan) throws -> KeyChange
  /// The change of a key, once more.
  func change(of key: RawSpan) -> KeyChange
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
  /// Whether the file has the row of a change, change by change.
  private var isTaken: [Bool] = []
  private let isIndexed: Bool
  var count: Int { changes.count }

  /// Takes changes; `isIndexed` tells whether there is a file to take changes for.
  init(_ changes: [ChangeSet.RecordChange], file: TableFile, isIndexed: Bool) {
    self.changes = changes
    self.file = file
    self.isIndexed = isIndexed
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

  mutating func take(_ key: RawSpan) throws -> KeyChange {
    guard let row = rowID(ofKey: key), let index = index(of: row) else { return .none }
    if changes[index].kind == .insert { throw file.rowExists(row) }
    isTaken[index] = true
    return change(at: index)
  }

  func change(of key: RawSpan) -> KeyChange {
    rowID(ofKey: key).flatMap { index(of: $0) }.map { change(at: $0) } ?? .none
  }

  private func change(at index: Int) -> KeyChange {
    changes[index].kind == .delete ? .deleted : .written(changes[index].range)
  }

  private func index(of row: UInt32) -> Int? {
    if dense.isEmpty { return sparse[row].map { Int($0) - 1 } }
    guard Int(row) < dense.count, dense[Int(row)] != 0 else { return nil }
    return Int(dense[Int(row)]) - 1
  }

  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for (index, change) in changes.enumerated() where change.kind != .delete {
      if isIndexed, isTaken[index] { continue }
      try withKey(of: change.rowID) { try body($0, change.range) }
    }
  }
}

/// The changes of the named buffers.
struct NameChanges: KeyedChanges {
  private var changes: [[UInt8]: Range<Int>?] = [:]
  private let names: [[UInt8]]
  private var taken: Set<[UInt8]> = []
  var count: Int { names.count }

  init(_ changes: [ChangeSet.NameChange]) {
    names = changes.map { Array($0.name.utf8) }
    for (name, change) in zip(names, changes) { self.changes[name] = .some(change.range) }
  }

  mutating func take(_ key: RawSpan) throws -> KeyChange {
    let change = change(of: key)
    if case .none = change { return change }
    taken.insert([UInt8](copying: key))
    return change
  }

  func change(of key: RawSpan) -> KeyChange {
    if changes.isEmpty { return .none }
    guard let change = changes[[UInt8](copying: key)] else { return .none }
    return change.map { .written($0) } ?? .deleted
  }

  func forEachLeft(_ body: (RawSpan, Range<Int>) throws -> Void) throws {
    for name in names where !taken.contains(name) {
      guard let range = changes[name] ?? nil else { continue }
      try name.lend { try body($0, range) }
    }
  }
}
