package import StoreEngine
import StoredObjectsCore

/// An object with all its values, as far as they are shown at once.
package struct ObjectView: Sendable {
  /// A property and its value.
  package struct Property: Sendable {
    /// The name.
    package let name: String
    /// The type.
    package let type: StoredType
    /// The value.
    package let cell: Cell
  }

  /// The ID, such as "Song/42".
  package let id: String
  /// A short title.
  package let title: String
  /// A number that changes with the record.
  package let version: String
  /// The number of the layout.
  package let layout: UInt8?
  /// The size of the record in bytes.
  package let byteCount: Int
  /// The properties, in their order.
  package let properties: [Property]
  /// The content in hex, if the properties are not known.
  package let hex: String?
  /// The previous and the next object of the class by row ID.
  package var neighbors: (before: UInt32?, after: UInt32?) = (nil, nil)
}

extension BrowsedState {
  /// The number of bytes of an unknown content that are shown.
  private static let shownBytes = 512

  /// Returns an object.
  ///
  /// - Throws: ``BrowsingError`` with `notFound`; ``/StoreEngine/StoreError`` with `damaged`,
  ///   `ioError` or `closed`.
  package func object(_ address: ObjectAddress) throws -> ObjectView {
    let known = try browsedClass(address.className)
    guard let record = try record(address.rowID, known) else {
      throw BrowsingError(.notFound, "There is no object \(address) in this state of the store.")
    }
    var view = view(record, known)
    view.neighbors = (
      try rows(of: known, .before(address.rowID), limit: 1).last,
      try rows(of: known, .after(address.rowID), limit: 1).first
    )
    return view
  }

  func view(_ record: BrowsedRecord, _ known: BrowsedClass) -> ObjectView {
    let properties = record.properties.enumerated().map { index, property in
      ObjectView.Property(
        name: property.name, type: property.type,
        cell: cell(Array(record.bytes[record.ranges[index]]), property.type, .object))
    }
    let content = record.bytes[record.content]
    return ObjectView(
      id: record.id, title: title(of: record, known), version: record.version,
      layout: record.layoutNumber, byteCount: record.bytes.count, properties: properties,
      hex: properties.isEmpty && !content.isEmpty ? hexText(content.prefix(Self.shownBytes)) : nil)
  }

  /// Returns a part of a list of references.
  ///
  /// - Throws: ``BrowsingError`` with `notFound` or `invalid`, or an error of reading.
  package func list(
    _ address: ObjectAddress, _ property: String, from start: Int, limit: Int
  ) throws -> (items: [Cell], count: Int) {
    let part = try part(of: address, property)
    guard part.type.referenceForm?.isList == true else {
      throw BrowsingError(.invalid, "The property \"\(property)\" is no list of objects.")
    }
    let all = try references(part.bytes, part.type)
    let items = all.dropFirst(max(0, start)).prefix(limit).map { reference("\($0)") }
    return (items, all.count)
  }

  /// Returns a part of a long text from a byte on, the first byte of the next part, and the number
  /// of all bytes.
  package func text(
    _ address: ObjectAddress, _ property: String, from start: Int, limit: Int
  ) throws -> (text: String, next: Int?, byteCount: Int) {
    let part = try part(of: address, property)
    var utf8 = part.bytes[...]
    var type = part.type
    if case .optional(let wrapped) = type { (type, utf8) = (wrapped, utf8.dropFirst()) }
    if type == .string {
      utf8 = utf8.dropFirst(4)
    } else {
      utf8 = Array(Self.text(try value(part.bytes, part.type)).utf8)[...]
    }
    let all = Array(utf8)
    guard start >= 0, start < all.count else { return ("", nil, all.count) }
    var end = min(all.count, start + limit)
    // A character must not be cut.
    while end < all.count, end > start, all[end] & 0xC0 == 0x80 { end -= 1 }
    let text = String(decoding: all[start..<end], as: UTF8.self)
    return (text, end < all.count ? end : nil, all.count)
  }

  private func part(
    of address: ObjectAddress, _ property: String
  ) throws -> (bytes: [UInt8], type: StoredType) {
    let known = try browsedClass(address.className)
    guard let record = try record(address.rowID, known) else {
      throw BrowsingError(.notFound, "There is no object \(address) in this state of the store.")
    }
    guard let part = record.part(property) else {
      throw BrowsingError(.notFound, "\(address) has no property \"\(property)\".")
    }
    return part
  }
}
