package import StoreEngine
import StoredObjectsCore

extension BrowsedState {
  /// Returns the values of a record by name, in the form of an export.
  ///
  /// - Throws: `DataBufferError` for a value that can't be read.
  package func values(of record: BrowsedRecord) throws -> StoredValue.Fields {
    guard !record.properties.isEmpty else {
      return ["bytes": .base64(Array(record.bytes[record.content]))]
    }
    return StoredValue.Fields(
      try record.properties.map { property in
        let part = record.part(property.name)?.bytes ?? []
        if property.type.isOpaque { return (property.name, ["bytes": .base64(part)]) }
        return (property.name, try value(part, property.type))
      })
  }

  /// Returns an object as its ID and its values.
  ///
  /// - Throws: ``BrowsingError`` with `notFound`; an error of reading.
  package func values(of address: ObjectAddress) throws -> StoredValue.Fields {
    guard let record = try record(address.rowID, browsedClass(address.className)) else {
      throw BrowsingError(.notFound, "There is no object \(address) in this store.")
    }
    return try values(of: record)
  }
}
