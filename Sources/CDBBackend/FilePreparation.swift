import CDB
import Files
import StoredObjectsCore

/// Makes the file that is to take the place of a class file: its records with the changes.
struct FilePreparation {
  /// A file and what is to change in it; what changes twice is as it is last.
  struct Target {
    let file: TableFile
    private(set) var changes: [Key: Change] = [:]
    /// The keys in the order in which they change first.
    private(set) var order: [Key] = []

    /// A key of a class file, or of that of the named buffers.
    enum Key: Hashable {
      case row(UInt32)
      case name([UInt8])
    }

    struct Change {
      /// Where the value is; nil for a record that is to be deleted.
      let range: Range<Int>?
      /// Whether it must not be there.
      let isInsert: Bool
    }

    init(_ file: TableFile, _ records: [ChangeSet.RecordChange]) {
      self.file = file
      for record in records {
        let range = record.kind == .delete ? nil : record.range
        add(.row(record.rowID), Change(range: range, isInsert: record.kind == .insert))
      }
    }

    init(_ file: TableFile, _ names: [ChangeSet.NameChange]) {
      self.file = file
      for name in names {
        add(.name(Array(name.name.utf8)), Change(range: name.range, isInsert: false))
      }
    }

    private mutating func add(_ key: Key, _ change: Change) {
      if changes.updateValue(change, forKey: key) == nil { order.append(key) }
    }

    /// Whether there is anything to write, and not only to delete.
    var writesAnything: Bool { changes.values.contains { $0.range != nil } }

    /// The key that these bytes are in this file.
    func key(_ bytes: RawSpan) -> Key {
      guard file.name != StoreDirectory.buffers, let rowID = RowKey.rowID(bytes) else {
        return .name([UInt8](copying: bytes))
      }
      return .row(rowID)
    }
  }

  let bytes: [UInt8]
  let target: Target
  let reader: CDBReader?
  /// Where the new file is made.
  let path: String
  let isSynced: Bool
  let testedSizeLimit: UInt64?

  /// Does it all; in the wide format once 4 bytes don't reach.
  func run() throws {
    let format = reader?.format ?? .classic
    do {
      try write(format)
    } catch let error as CDBError where error.code == .tooLarge && format == .classic {
      try write(.wide)
    }
  }

  private func write(_ format: CDBFormat) throws {
    let limit = format == .classic ? testedSizeLimit : nil
    let writer = try CDBWriter(path, format: format, sizeLimit: limit, seam: .init())
    var written = Set<Target.Key>()
    try reader?.forEach { bytes, value in
      let key = target.key(bytes)
      if let change = target.changes[key] {
        if change.isInsert { throw rowExists(key) }
        written.insert(key)
        try add(change, bytes, to: writer)
      } else {
        try writer.add(value, forKey: bytes)
      }
    }
    for key in target.order where !written.contains(key) {
      guard let change = target.changes[key] else { continue }
      switch key {
      case .row(let rowID): try rowID.lendLittleEndian { try add(change, $0, to: writer) }
      case .name(let name): try name.lend { try add(change, $0, to: writer) }
      }
    }
    try writer.finish(synchronize: isSynced)
  }

  private func add(
    _ change: Target.Change, _ key: RawSpan, to writer: CDBWriter
  ) throws {
    guard let range = change.range else { return }
    try bytes.lend(range) { _ = try writer.add($0, forKey: key) }
  }

  private func rowExists(_ key: Target.Key) -> StoreError {
    let rowID: UInt32? = if case .row(let rowID) = key { rowID } else { nil }
    return StoreError(
      .rowExists, "The row is there already, and an insert must not overwrite it.",
      at: .init(path: target.file.path, className: target.file.name, rowID: rowID))
  }
}
