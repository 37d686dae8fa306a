extension HistoryStreamWriter {
  /// Writes the values outside of records that the next entry refers to.
  mutating func writeValues(
    _ references: [ExternalReference], of backend: any StoreBackend,
    to sink: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    for reference in references {
      guard sendsValues, let storage = backend.externalStorage,
        let input = try storage.find(reference)
      else {
        append(.missingValue(reference))
        continue
      }
      var reader = ExternalReader(input, reference)
      if reference.byteCount == 0 { append(.value(reference, offset: 0, [])) }
      while true {
        let offset = reader.offset
        guard let chunk = try reader.next() else { break }
        append(.value(reference, offset: offset, chunk))
        try flush(to: sink)
      }
    }
  }
}

extension ExternalStorage {
  /// Opens a value; nil if it has been removed.
  fileprivate func find(_ reference: ExternalReference) throws(StoreError) -> (any ExternalInput)? {
    do {
      return try open(reference)
    } catch  where error.code == .recordMissing { return nil }
  }
}

extension HistoryEntry {
  private var listedValues: [KeyChange] {
    orderedTables.first { $0.name == ExternalCatalogue.table }?.keys ?? []
  }

  /// The values outside of records that rows begin to refer to in this commit, each once.
  var newReferences: [ExternalReference] {
    var known: Set<ExternalReference> = []
    return listedValues.compactMap { change in
      guard change.before == nil, let after = change.after,
        let reference = ExternalCatalogue.reference(key: change.key, value: after)
      else { return nil }
      return known.insert(reference).inserted ? reference : nil
    }
  }
}

extension ExternalCatalogue {
  /// Returns the reference that a key and its value encode; nil for other keys.
  package static func reference(key: [UInt8], value: [UInt8]) -> ExternalReference? {
    var buffer = DataBuffer(value)
    guard let id = self.value(ofKey: key), let count = try? buffer.readUInt64(),
      let checksum = try? buffer.readUInt32(), buffer.remainingCount == 0,
      count <= UInt64(ExternalFileFormat.maximumByteCount)
    else { return nil }
    return ExternalReference(id: id, byteCount: Int(count), checksum: checksum)
  }
}
