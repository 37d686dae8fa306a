import StoreEngine
import StoredObjectsCore

/// A part of the objects that refer to an object.
package struct ReferrerPage: Sendable {
  /// An object, and the property that refers.
  package struct Referrer: Sendable {
    /// The object.
    package let cell: Cell
    /// The property.
    package let property: String
  }

  /// The objects that were found.
  package var referrers: [Referrer] = []
  /// The position to continue from; nil if everything has been looked at.
  package var cursor: String?
  /// The number of objects that were looked at so far, and of all that can refer.
  package var progress: (done: Int, of: Int) = (0, 0)
}

extension BrowsedState {
  /// Returns the properties of a class that can refer to objects of another.
  ///
  /// A property declared with a superclass holds objects of subclasses, which the store does not
  /// know, so properties of any class count.
  func referringProperties(_ known: BrowsedClass) -> [SavedLayout.SavedProperty] {
    known.layouts.flatMap(\.browsedProperties).reduce(into: []) { found, property in
      if property.type.referenceForm != nil, !found.contains(where: { $0.name == property.name }) {
        found.append(property)
      }
    }
  }

  /// Returns the next objects that refer to an object.
  ///
  /// Indexes by a property are used where they exist. Otherwise objects are read, one after another,
  /// until time is up.
  ///
  /// - Parameters:
  ///   - address: The object.
  ///   - cursor: The position of an earlier part; nil for the beginning.
  ///   - limit: The number of referrers after which to stop.
  ///   - time: The maximum time.
  /// - Returns: The objects that were found.
  /// - Throws: ``BrowsingError`` with `invalid`; ``/StoreEngine/StoreError`` with `ioError` or
  ///   `closed`.
  package func referrers(
    of address: ObjectAddress, cursor: String?, limit: Int, time: Duration
  ) throws -> ReferrerPage {
    var found: [ReferrerPage.Referrer] = []
    let end = try forEachReferrer(of: address, cursor: cursor, limit: limit, time: time) {
      record, name in
      found.append(referrer(record, name))
      return found.count
    }
    return ReferrerPage(referrers: found, cursor: end.cursor, progress: end.progress)
  }

  private func referrer(_ record: BrowsedRecord, _ property: String) -> ReferrerPage.Referrer {
    var cell = Cell(.reference, record.id)
    cell.id = record.id
    if let known = try? browsedClass(record.className) { cell.title = title(of: record, known) }
    return .init(cell: cell, property: property)
  }

  /// Calls a closure with each record and property that refer to an object; it returns the number
  /// found so far.
  func forEachReferrer(
    of address: ObjectAddress, cursor: String?, limit: Int, time: Duration,
    _ body: (BrowsedRecord, String) -> Int
  ) throws -> WalkEnd {
    let candidates = classes.filter { !referringProperties($0).isEmpty }
    var count = 0
    return try walk(candidates, from: cursor, until: .now + time) { rows, known in
      for (rowID, bytes) in rows {
        for (record, name) in references(to: address, rowID, bytes, known) {
          count = body(record, name)
        }
      }
      return count >= limit
    }
  }

  private func references(
    to address: ObjectAddress, _ rowID: UInt32, _ bytes: [UInt8], _ known: BrowsedClass
  ) -> [(BrowsedRecord, String)] {
    guard let record = try? known.record(rowID, bytes) else { return [] }
    var found: [(BrowsedRecord, String)] = []
    for (index, property) in record.properties.enumerated()
    where property.type.referenceForm != nil {
      let part = Array(record.bytes[record.ranges[index]])
      if refers(part, property.type, to: address) { found.append((record, property.name)) }
    }
    return found
  }

  private func refers(_ part: [UInt8], _ type: StoredType, to address: ObjectAddress) -> Bool {
    // Most objects do not refer to it. If its row does not occur in the bytes, they need not be
    // read.
    guard Self.contains(address.rowID, in: part) else { return false }
    return ((try? references(part, type)) ?? []).contains(address)
  }

  private static func contains(_ row: UInt32, in part: [UInt8]) -> Bool {
    let low = UInt8(truncatingIfNeeded: row)
    guard part.count >= 4 else { return false }
    for start in 0...(part.count - 4) where part[start] == low {
      let number = (0..<4).reduce(0 as UInt32) { $0 | UInt32(part[start + $1]) << (8 * UInt32($1)) }
      if number == row { return true }
    }
    return false
  }
}
