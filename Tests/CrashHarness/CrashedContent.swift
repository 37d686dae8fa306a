import Foundation
import KeyValueStoreCore
import StoredObjectsCore
import StoredObjectsTestSupport

/// The destination of a script's saves: a backend, or the tables of a key-value store on it.
struct CrashedContent {
  let backend: any CrashedBackend
  private let values: KeyValueStore?

  /// Creates a key-value store on the backend if the script is saved as values.
  init(_ backend: any CrashedBackend, hasValues: Bool) throws {
    self.backend = backend
    values = hasValues ? try KeyValueStore(backend: backend) : nil
  }

  func close() throws { try values?.close() ?? backend.close() }

  /// Writes a save.
  ///
  /// Values are written in one batch, or by the method for a single one if there is only one.
  func commit(_ save: ScriptedSave) throws {
    guard let values else { return try save.commit(to: backend) }
    let changes = try ValueChange.all(of: save, values)
    if let only = changes.first, changes.count == 1, !save.clearsKeys {
      return try only.apply(to: only.table)
    }
    try values.write { batch in
      if save.clearsKeys { try batch.removeAll(from: values.table(ValueChange.keys)) }
      for change in changes { try change.apply(to: &batch) }
    }
  }

  /// Returns the whole content.
  func image() throws -> StoreImage {
    guard let values else { return try StoreImage(of: backend) }
    var image = StoreImage()
    for name in values.tableNames() {
      let items = try values.table(name).all.items()
      guard try values.table(name).count() == items.count else {
        throw HarnessError("the count of \(name) is wrong")
      }
      for item in items {
        let bytes = [UInt8](try item.decoded(as: Data.self))
        switch name {
        case ValueChange.names: image.set(item.key, bytes)
        case ValueChange.keys:
          image.set(Array(item.key.utf8), to: bytes, in: ScriptedSave.index)
        default: image.set(name, UInt32(item.key) ?? 0, bytes)
        }
      }
    }
    return image
  }
}

/// A put or a delete.
private struct ValueChange {
  static let names = "named buffers"
  static let keys = "\u{0}keys/.."

  let table: KeyValueTable
  let key: String
  /// The new value; nil deletes.
  let value: [UInt8]?

  /// Returns the changes of a save, and creates the tables that it needs.
  static func all(of save: ScriptedSave, _ store: KeyValueStore) throws -> [ValueChange] {
    var changes = try save.rows.map { row in
      ValueChange(
        table: try store.createTable(row.table), key: "\(row.rowID)", value: row.record)
    }
    for (name, buffer) in save.names {
      changes.append(ValueChange(table: try store.createTable(names), key: name, value: buffer))
    }
    let index = try store.createTable(keys)
    for (key, value) in save.keys {
      changes.append(
        ValueChange(table: index, key: String(decoding: key, as: UTF8.self), value: value))
    }
    return changes
  }

  func apply(to table: KeyValueTable) throws {
    if let value { try table.put(Data(value), for: key) } else { try table.delete(key) }
  }

  func apply(to batch: inout KeyValueBatch) throws {
    if let value {
      // Some values expire, but long after the test.
      let life: Duration? = value.count % 5 == 0 ? .seconds(1_000_000) : nil
      try batch.put(Data(value), for: key, in: table, expiresAfter: life)
    } else {
      try batch.delete(key, from: table)
    }
  }
}
