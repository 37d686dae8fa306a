import Files
package import FoundationEssentials
package import StoreEngine

/// An item without the checksum that binds it to the number of its table.
package enum ItemBody {
  /// Returns the body of a stored item; nil if its checksum is wrong.
  static func bytes(of record: [UInt8], _ key: [UInt8], in table: UInt32) -> [UInt8]? {
    let end = record.count - ItemFormat.checksumSize
    guard end > 0 else { return nil }
    let body = Array(record[..<end])
    return record == Self.record(body, key, in: table) ? body : nil
  }

  /// Returns the item as a table stores it.
  static func record(_ body: [UInt8], _ key: [UInt8], in table: UInt32) -> [UInt8] {
    let checksum = key.lend { key in body.lend { ItemChecksum.value(table, key, $0) } }
    var record = body
    record.append(littleEndian: checksum)
    return record
  }

  /// Returns the key and the item.
  ///
  /// - Throws: `StoreError` with `damaged` for bytes that are no item.
  package static func item(_ body: [UInt8], of place: ItemPlace) throws(StoreError) -> KeyValueItem
  {
    let (table, key) = (
      String(decoding: place.table, as: UTF8.self), String(decoding: place.key, as: UTF8.self)
    )
    let record = body.lend { body -> ItemRecord? in
      guard let (head, size) = ItemFormat.head(of: body),
        let value = try? ValueReader.value(in: body.extracting(size..<body.byteCount))
      else { return nil }
      return ItemRecord(head: head, value: value)
    }
    guard let record else {
      throw StoreError(.damaged, "The item makes no sense.", table: table, key: key)
    }
    return KeyValueItem(
      key: key, value: record.value, createdAt: record.head.createdAt,
      updatedAt: record.head.updatedAt, expiresAt: record.head.expiresAt)
  }

  /// Throws if an item of another store makes no sense here, or is too large.
  ///
  /// - Throws: `StoreError` with `invalidArgument` or `tooLarge`.
  static func check(_ body: [UInt8], of place: ItemPlace) throws(StoreError) {
    try ItemFormat.validate(place.key.count + body.count + ItemFormat.checksumSize)
    do { _ = try item(body, of: place) } catch {
      throw StoreError(.invalidArgument, "An item makes no sense.", at: error.location)
    }
  }

  /// Returns whether two items have the same value and expire at the same time; nil is only as nil.
  package static func isSame(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    if left == right { return true }
    guard let (first, firstSize) = left.lend({ ItemFormat.head(of: $0) }),
      let (second, secondSize) = right.lend({ ItemFormat.head(of: $0) })
    else { return false }
    return first.expiresAt == second.expiresAt && left[firstSize...] == right[secondSize...]
  }

  /// Returns whether an item has expired.
  package static func isExpired(_ body: [UInt8]?, at now: Date) -> Bool {
    body?.lend { ItemFormat.head(of: $0)?.head.isExpired(now) } ?? false
  }
}
