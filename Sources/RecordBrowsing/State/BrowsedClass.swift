import Files
package import StoreEngine
package import StoredObjectsCore

/// A class of a store, from its metadata row and its saved layouts.
package struct BrowsedClass: Sendable {
  /// The stored name.
  package let name: String
  let table: TableID
  /// The metadata row; nil if it is missing or damaged.
  package let metadata: ClassMetadata?
  /// The layouts, the oldest first; none for a class from before stores kept layouts.
  package let layouts: [SavedLayout]
  /// The number of objects.
  package let objectCount: Int
  /// The reason why the metadata row or the layouts can't be read.
  package let damage: String?
  /// The size that the values of a custom type usually have, where that is needed to read records.
  private(set) var usualSize: Int?

  init(_ name: String, _ backend: any StoreBackend) throws(StoreError) {
    self.name = name
    table = try backend.table(named: name)
    let rows = try backend.recordCount(in: table)
    var row: [UInt8] = []
    let hasRow = try backend.copyRecord(ClassMetadata.rowID, in: table, to: &row)
    metadata = hasRow ? ClassMetadata(row: row) : nil
    objectCount = max(0, rows - (hasRow ? 1 : 0))
    var damage: String?
    if metadata == nil {
      damage = "The metadata row is \(hasRow ? "damaged" : "missing"): salvage the store."
    }
    do throws(StoreError) {
      layouts = try backend.savedLayouts(of: name)
    } catch {
      guard error.code == .damaged else { throw error }
      (layouts, damage) = ([], damage ?? error.message)
    }
    self.damage = damage
    try findUsualSize(backend)
  }

  /// The number of records that are compared for the size of a custom type.
  private static let comparedCount = 32

  private mutating func findUsualSize(_ backend: any StoreBackend) throws(StoreError) {
    let types = properties.map(\.type)
    guard !ValueFinder.canFindAll(types), let opaque = types.firstIndex(where: \.isOpaque) else {
      return
    }
    var records: [(UInt32, [UInt8])] = []
    _ = try backend.scan(table, from: nil) { row, record in
      if row > ClassMetadata.rowID { records.append((row, [UInt8](copying: record))) }
      return records.count < Self.comparedCount ? .next : .pause
    }
    var counts: [Int: Int] = [:]
    for (row, bytes) in records {
      guard let found = try? record(row, bytes), found.ranges.count > opaque else { continue }
      counts[found.ranges[opaque].count, default: 0] += 1
    }
    usualSize = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  /// The properties of the newest layout.
  package var properties: [SavedLayout.SavedProperty] { layouts.last?.browsedProperties ?? [] }

  /// Returns the property of a name in the newest layout.
  package func property(_ name: String) -> SavedLayout.SavedProperty? {
    properties.first { $0.name == name }
  }

  /// A remark about properties that are not known; nil if there is nothing to remark.
  package var note: String? {
    if let damage { return damage }
    guard let newest = layouts.last else {
      return """
        The store has no layout of the class: an earlier release or BNRPersistence wrote it. \
        Records are shown as bytes.
        """
    }
    guard newest.isOfValues else { return nil }
    return "The class declares no properties. Values are named by their positions."
  }

  var hasNumbers: Bool { !(metadata?.flags ?? []).contains(.unversionedRecords) }
  var hasChecksums: Bool { (metadata?.flags ?? []).contains(.checksums) }

  func layout(_ number: UInt8) -> SavedLayout? { layouts.last { $0.number == number } }
}

extension SavedLayout {
  /// The properties; values without names are named by their positions.
  package var browsedProperties: [SavedProperty] {
    switch form {
    case .properties(let properties): properties
    case .values(let types):
      types.enumerated().map { .init(name: "value\($0 + 1)", type: $1) }
    }
  }
}
