import Files

extension SharedTable {
  /// Looks for the metadata row.
  func learn(from backend: some RecordSource, _ table: TableID) throws {
    let row = try backend.withRecord(ClassMetadata.rowID, in: table) { [UInt8](copying: $0) }
    guard let row else { return learn(nil) }
    var buffer = DataBuffer(row)
    do { learn(try ClassMetadata(from: &buffer)) } catch {
      throw StoreError(
        .damaged, "The metadata row makes no sense.",
        at: .init(path: backend.location, rowID: ClassMetadata.rowID), underlying: error)
    }
  }
}
