import Files
package import StoreEngine

/// A class of a store, known from its records and layouts without the program.
package struct RecordClass: Sendable {
  /// The name of the class.
  package let name: String
  let table: TableID
  /// The metadata row.
  package var metadata: ClassMetadata
  /// The layouts by ascending number; empty for a class from before stores kept layouts.
  package let layouts: [SavedLayout]
  private let codings: [UInt8: RecordCoding]
  /// The codings of a program's class, which find the ends of values of custom types, by layout.
  var declaredCodings: [UInt8: RecordCoding] = [:]

  /// Reads the classes of a store.
  ///
  /// - Returns: The classes in the order of their IDs.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package static func all(in backend: any StoreBackend) throws(StoreError) -> [RecordClass] {
    do {
      return try backend.tableNames().compactMap { try RecordClass($0, backend) }
        .sorted { $0.metadata.classID < $1.metadata.classID }
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: backend.location))
    }
  }

  /// Reads a class, or returns nil for an empty table.
  private init?(_ name: String, _ backend: any StoreBackend) throws {
    let table = try backend.table(named: name)
    let location = StoreError.Location(path: backend.location, className: name, rowID: 1)
    guard
      let row = try backend.withRecord(ClassMetadata.rowID, in: table, { [UInt8](copying: $0) })
    else {
      if try backend.recordCount(in: table) == 0 { return nil }
      throw StoreError(.damaged, "The metadata row is missing: salvage the store.", at: location)
    }
    do {
      var buffer = DataBuffer(row)
      let metadata = try ClassMetadata(from: &buffer)
      self.init(name, table, metadata, try backend.savedLayouts(of: name))
    } catch { throw StoreError.wrapping(error, .damaged, at: location) }
  }

  init(_ name: String, _ table: TableID, _ metadata: ClassMetadata, _ layouts: [SavedLayout]) {
    (self.name, self.table, self.metadata, self.layouts) = (name, table, metadata, layouts)
    let pairs = layouts.compactMap { layout in
      RecordCoding(layout.form).map { (layout.number, $0) }
    }
    codings = Dictionary(pairs) { first, _ in first }
  }

  /// Returns the coding of a layout, or nil if its properties are not known.
  func coding(_ number: UInt8) -> RecordCoding? { codings[number] }

  /// Whether records begin with the number of their layout.
  var hasNumbers: Bool { !(metadata.flags ?? []).contains(.unversionedRecords) }
  /// Whether records end with a checksum.
  var hasChecksums: Bool { (metadata.flags ?? []).contains(.checksums) }

  /// Returns the value of an object, from its record.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, and the errors of the references.
  func value(
    _ row: UInt32, _ record: [UInt8], _ references: some ReferenceReading
  ) throws -> ObjectValue {
    var buffer = DataBuffer(record)
    if hasChecksums { try buffer.verifyChecksum(classID: metadata.classID, rowID: row) }
    let number = hasNumbers ? try buffer.readUInt8() : layouts.last?.number ?? 0
    var value = ObjectValue(className: name, rowID: row)
    if number != layouts.last?.number { value.layout = number }
    if let coding = declaredCodings[number] {
      var content = buffer
      // It fails for a custom type that needs the store.
      if let values = try? coding.values(from: &content, references) {
        value.values = values
        return value
      }
    }
    if let coding = coding(number), coding.isReadable {
      value.values = try coding.values(from: &buffer, references)
    } else {
      if case .string(let text) = StoredValue.base64(Array(buffer.rest)) { value.bytes = text }
      value.layout = number
    }
    return value
  }
}
