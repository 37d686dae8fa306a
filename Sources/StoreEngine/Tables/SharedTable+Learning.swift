import Files

extension ClassMetadata {
  /// Reads a metadata row; nil if it is not valid.
  package init?(row: [UInt8]) {
    var buffer = DataBuffer(row)
    guard let metadata = try? ClassMetadata(from: &buffer) else { return nil }
    self = metadata
  }
}

extension ChangeSet {
  /// Creates a change that writes the metadata row of a class.
  package init(_ metadata: ClassMetadata, of table: TableID) {
    var buffer = DataBuffer()
    metadata.write(to: &buffer)
    let record = RecordChange(
      kind: .update, rowID: ClassMetadata.rowID, range: 0..<buffer.bytes.count)
    self.init(bytes: buffer.bytes, tables: [.init(table: table, records: [record])])
  }
}

extension SharedTable {
  /// Reads the metadata row and remembers it.
  func learn(from backend: some RecordSource, _ table: TableID) throws(StoreError) {
    let row = try backend.withRecord(ClassMetadata.rowID, in: table) { [UInt8](copying: $0) }
    guard let row else { return learn(nil) }
    var buffer = DataBuffer(row)
    do { learn(try ClassMetadata(from: &buffer)) } catch {
      throw StoreError(
        .damaged, "The metadata row is damaged.",
        at: .init(path: backend.location, rowID: ClassMetadata.rowID), underlying: error)
    }
  }
}
