import CDBBackend
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// The files of a store, in any format, whose content a test moves.
private protocol MovableFiles: RecordSource {
  func mark(of name: String) throws(StoreError) -> FileMark?
  func prepare(
    _ changes: ChangeSet, mark: FileMark, durability: Durability
  ) throws(StoreError) -> [Replacement]
  func publish(_ replacements: [Replacement]) throws(StoreError)
  func close()
}

extension ClassFiles: MovableFiles {}

/// The files of an encrypted store for an attacker without the key, who can move their pieces.
struct SealedFiles {
  let kind: StoreFormat
  let directory: String

  init(_ kind: StoreFormat, _ directory: String) {
    (self.kind, self.directory) = (kind, directory)
  }

  private func withFiles<Result>(_ body: (any MovableFiles) throws -> Result) throws -> Result {
    let files: any MovableFiles =
      kind == .tokyoCabinet
      ? try TokyoCabinetFiles(writing: directory) : try CDBFiles(writing: directory)
    defer { files.close() }
    return try body(files)
  }

  /// The sealed name of a class, which only somebody with the key can tell.
  func sealedName(of name: String) throws -> String {
    let backend = try kind.open(directory, readOnly: true)
    defer { try? backend.close() }
    if let backend = backend as? TokyoCabinetBackend {
      return try backend.files.name(of: backend.table(named: name))
    }
    let cdb = try #require(backend as? CDBBackend)
    return try cdb.files.name(of: cdb.table(named: name))
  }

  /// The sealed record of a row.
  func record(_ rowID: UInt32, inTableOf name: String) throws -> [UInt8] {
    let sealed = try sealedName(of: name)
    return try withFiles { files in
      var bytes: [UInt8] = []
      let isThere = try files.copyRecord(rowID, in: files.table(named: sealed), to: &bytes)
      try #require(isThere)
      return bytes
    }
  }

  /// Puts a sealed record into a row.
  func setRecord(_ bytes: [UInt8], _ rowID: UInt32, inTableOf name: String) throws {
    let sealed = try sealedName(of: name)
    try withFiles { files in
      let change = ChangeSet.RecordChange(kind: .update, rowID: rowID, range: 0..<bytes.count)
      let table = ChangeSet.TableChanges(
        table: try files.table(named: sealed), records: [change])
      let changes = ChangeSet(bytes: bytes, tables: [table])
      try publish(changes, inLocationOf: sealed, files)
    }
  }

  /// Writes a file with changes, and with the mark of the old one, which nothing seals.
  private func publish(
    _ changes: ChangeSet, inLocationOf file: String, _ files: any MovableFiles
  ) throws {
    let mark = try files.mark(of: file) ?? FileMark(epoch: 1, number: 1)
    try files.publish(try files.prepare(changes, mark: mark, durability: .none))
  }

  /// Copies a record from one row to another.
  func copyRecord(fromRow row: UInt32, to other: UInt32, inTableOf name: String) throws {
    try setRecord(try record(row, inTableOf: name), other, inTableOf: name)
  }

  /// Copies a named buffer, the first one, to another key.
  func buffers() throws -> [(key: String, bytes: [UInt8])] {
    try withFiles { files in
      try files.bufferNames().sorted().map { key in
        var bytes: [UInt8] = []
        _ = try files.withNamedBuffer(key) { span in
          let span = Span<UInt8>(_bytes: span)
          bytes = span.indices.map { span[$0] }
        }
        return (key, bytes)
      }
    }
  }

  /// Sets a sealed buffer.
  func setBuffer(_ key: String, _ bytes: [UInt8]) throws {
    try withFiles { files in
      let changes = ChangeSet(bytes: bytes, names: [.init(name: key, range: 0..<bytes.count)])
      try publish(changes, inLocationOf: StoreDirectory.buffers, files)
    }
  }
}
