import Files
import StoreEngine

/// A reader of the records of a class, by the layouts in the store.
final class RecordReader {
  let store: Store
  let className: String
  /// The names of all classes by their IDs.
  let classNames: [UInt8: String]
  private let table: TableID
  /// The table of the records that the migration has overwritten.
  private let earlier: OrderedTableID
  private let metadata: ClassMetadata
  private let format: ClassMetadata.Flags
  private let layouts: [UInt8: SavedLayout]
  /// Closures that skip values of types that only their own code can read.
  private let skips: [StoredType: (inout DataBuffer) throws -> Void]

  /// Creates a reader, or returns nil if the store does not have the class.
  init?(_ store: Store, _ className: String) throws {
    let backend = store.backend
    guard let metadata = try backend.classMetadata(of: className) else { return nil }
    (self.store, self.className, self.metadata) = (store, className, metadata)
    table = try backend.table(named: className)
    earlier = try backend.earlierRecords(of: className)
    format = metadata.flags ?? store.configuration.originalClassFormat
    let entry = store.classes.first { $0.name == className }
    let known = try entry?.layouts.all ?? backend.savedLayouts(of: className)
    layouts = Dictionary(known.map { ($0.number, $0) }) { first, _ in first }
    let properties = try entry.map { try DeclaredLayout.of($0.type).layout?.properties } ?? []
    skips = Dictionary((properties ?? []).map { ($0.type, $0.skip) }) { first, _ in first }
    let names = try store.savedClassIDs()
    let retired = try backend.savedMigrations().retired
    classNames = retired.merging(names.map { ($1, $0) }) { _, name in name }
  }

  /// Returns the rows of all objects.
  func rows() throws -> RowSet {
    var rows = RowSet()
    _ = try store.backend.scan(table, from: nil) { rowID, _ in
      if rowID > ClassMetadata.rowID { rows.insert(rowID) }
      return .next
    }
    return rows
  }

  /// Returns the record of a row, or nil if there is none.
  ///
  /// If the migration has overwritten a record of an earlier layout, this method returns that
  /// record.
  func record(_ rowID: UInt32) throws -> StoredRecord? {
    guard rowID > ClassMetadata.rowID else { return nil }
    var bytes: [UInt8] = []
    if try store.backend.copyValue(of: Store.earlierKey(rowID), in: earlier, to: &bytes) {
      return try record(rowID, bytes)
    }
    return try self.bytes(rowID).map { try record(rowID, $0) }
  }

  /// Returns the saved record of a row, or nil if there is none.
  func bytes(_ rowID: UInt32) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    return try store.backend.copyRecord(rowID, in: table, to: &bytes) ? bytes : nil
  }

  private func record(_ rowID: UInt32, _ bytes: [UInt8]) throws -> StoredRecord {
    let location = StoreError.Location(
      path: store.backend.location, className: className, rowID: rowID)
    var buffer = DataBuffer(bytes)
    do {
      if format.contains(.checksums) {
        try buffer.verifyChecksum(classID: metadata.classID, rowID: rowID)
      }
      buffer.version =
        format.contains(.unversionedRecords) ? metadata.classVersion : try buffer.readUInt8()
    } catch {
      throw StoreError.wrapping(error, .damaged, at: location)
    }
    guard let layout = layouts[buffer.version], !layout.isOfValues else {
      throw StoreError(
        .changedLayout,
        """
        The store has no layout \(buffer.version) of the class, so its records can't be read by \
        name. Register the class, or save it once by a program that declares its layout.
        """, at: location)
    }
    let id = ObjectID<StoredObject>(className: className, rowID: rowID)
    return StoredRecord(id: id, reader: self, content: buffer, layout: layout)
  }

  /// Returns whether a layout of the class has a property.
  func knows(_ name: String) -> Bool {
    layouts.values.contains { layout in
      guard case .properties(let properties) = layout.form else { return false }
      return properties.contains { $0.name == name }
    }
  }

  /// Skips a value.
  func skip(_ type: StoredType, in buffer: inout DataBuffer) throws {
    if type.isOpaque, let skip = skips[type] { try skip(&buffer) } else { try buffer.skip(type) }
  }
}
