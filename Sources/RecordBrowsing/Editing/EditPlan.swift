import StoreEngine
import StoredObjectsCore

/// The records of an edit before and after, and what the edit has to keep consistent.
struct EditPlan {
  let state: BrowsedState
  let confirmations: Set<EditRequest.Confirmation>
  /// The records before and after; nil for one that does not exist.
  private(set) var changes: [ObjectAddress: Change] = [:]
  /// The objects in the order of their first change.
  private(set) var order: [ObjectAddress] = []
  /// The last row of each class that got new objects.
  private(set) var lastRows: [String: UInt32] = [:]

  struct Change: Sendable {
    let before: [UInt8]?
    var after: [UInt8]?
  }

  init(_ state: BrowsedState, _ confirmations: Set<EditRequest.Confirmation>) {
    (self.state, self.confirmations) = (state, confirmations)
  }

  // MARK: Records

  /// Returns the record of an object with the changes so far; nil if there is none.
  func record(_ address: ObjectAddress) throws -> BrowsedRecord? {
    let known = try state.browsedClass(address.className)
    guard let change = changes[address] else { return try state.record(address.rowID, known) }
    return try change.after.map { try known.record(address.rowID, $0) }
  }

  /// Returns the record of an object that is to be changed.
  ///
  /// - Throws: ``BrowsingError`` with `notFound`, `conflict` or `refused`.
  func editable(_ address: ObjectAddress, version: String?) throws -> BrowsedRecord {
    guard let record = try record(address) else {
      throw Self.gone(address)
    }
    if changes[address] == nil, let version, version != record.version {
      var error = BrowsingError(
        .conflict,
        "\(address) has changed since you read it. Look at the new values, and edit them again.")
      error.id = "\(address)"
      throw error
    }
    try checkIsEditable(try state.browsedClass(address.className))
    if record.properties.isEmpty {
      throw BrowsingError(
        .refused, "The store does not know the properties of \(address): edit it with the program.")
    }
    return record
  }

  static func gone(_ address: ObjectAddress) -> BrowsingError {
    var error = BrowsingError(.conflict, "There is no object \(address) any more.")
    error.id = "\(address)"
    return error
  }

  func checkIsEditable(_ known: BrowsedClass) throws(BrowsingError) {
    guard let newest = known.layouts.last, !newest.isOfValues, known.metadata?.flags != nil else {
      throw BrowsingError(
        .refused,
        """
        The store does not know the properties of \(known.name) by name. Save the class once with \
        a program that declares them.
        """)
    }
  }

  // MARK: Changes

  /// Replaces the whole record of a row.
  mutating func replace(_ address: ObjectAddress, with record: [UInt8]?) throws {
    if changes[address] == nil {
      let known = try state.browsedClass(address.className)
      var bytes: [UInt8] = []
      let isThere = try state.backend.copyRecord(address.rowID, in: known.table, to: &bytes)
      changes[address] = Change(before: isThere ? bytes : nil, after: nil)
      order.append(address)
    }
    changes[address]?.after = record
  }

  /// Replaces the bytes of one property.
  mutating func replace(_ address: ObjectAddress, _ property: String, with part: [UInt8]) throws {
    let known = try state.browsedClass(address.className)
    guard let record = try record(address) else { throw Self.gone(address) }
    guard let index = record.properties.firstIndex(where: { $0.name == property }) else {
      throw BrowsingError(
        .refused,
        """
        \(address) was saved before its class had the property "\(property)". Save it once with \
        the program.
        """)
    }
    if let first = record.firstAssumed, index >= first { try checkAssumption(known) }
    let (whole, range) = (record.content, record.ranges[index])
    let content =
      record.bytes[whole.lowerBound..<range.lowerBound] + part
      + record.bytes[range.upperBound..<whole.upperBound]
    try replace(
      address,
      with: known.recordBytes(address.rowID, layout: record.layoutNumber ?? 0, Array(content)))
  }

  /// The number of records for which an assumption about a type has to hold.
  private static let comparedCount = 64

  /// Throws unless the assumption about a custom type holds for other records, too.
  private func checkAssumption(_ known: BrowsedClass) throws {
    for (row, bytes) in try state.records(
      of: known, .after(0), limit: Self.comparedCount, maximumLookUps: 16 * BrowsedState.batchRows
    ).rows {
      let record = try? known.record(row, bytes)
      guard let record,
        record.ranges.count
          == known.layout(record.layoutNumber ?? 0)?
          .browsedProperties.count
      else {
        throw BrowsingError(
          .refused,
          """
          Only the program can find this value of \(known.name), because it is behind a value of a \
          type of its own.
          """)
      }
    }
  }

  /// Chooses a row for a new object.
  mutating func takeRow(of known: BrowsedClass, reserve: () throws -> UInt32) rethrows -> UInt32 {
    let row = try reserve()
    lastRows[known.name] = max(lastRows[known.name] ?? 0, row)
    return row
  }
}

extension BrowsedClass {
  /// Returns a record with a content.
  func recordBytes(_ rowID: UInt32, layout: UInt8, _ content: [UInt8]) -> [UInt8] {
    var buffer = DataBuffer()
    _ = buffer.beginRecord()
    if hasNumbers { buffer.write(layout) }
    buffer.append(content)
    if hasChecksums { buffer.writeChecksum(classID: metadata?.classID ?? 0, rowID: rowID) }
    return buffer.bytes
  }
}
