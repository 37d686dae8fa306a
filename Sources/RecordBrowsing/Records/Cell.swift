import Foundation
import StoreEngine
import StoredObjectsCore

/// A value as a page shows it: a kind, a text of limited length, and what it refers to.
package struct Cell: Sendable, Equatable {
  /// The kinds of values, which decide how they are aligned and edited.
  package enum Kind: String, Sendable {
    case none, text, number, bool, date, uuid, choice, reference, references, list, bytes, opaque
    case damaged
  }

  /// The kind.
  package var kind: Kind
  /// The text; a beginning of it if the value is long.
  package var text: String
  /// The number of bytes of a text that was cut; nil if it is whole.
  package var cutFrom: Int?
  /// The number of elements of a list.
  package var count: Int?
  /// The object that the value refers to.
  package var id: String?
  /// The title of that object; nil if there is no such object.
  package var title: String?
  /// The first objects of a list.
  package var items: [Cell] = []

  init(_ kind: Kind, _ text: String = "") { (self.kind, self.text) = (kind, text) }
}

extension BrowsedState {
  /// The limits of what is shown of a value.
  struct CellLimits {
    var characters: Int
    var items: Int

    static let table = CellLimits(characters: 160, items: 0)
    static let object = CellLimits(characters: 4000, items: 50)
  }

  /// Returns what to show of a value; a damaged value is a cell, too.
  func cell(_ bytes: [UInt8], _ type: StoredType, _ limits: CellLimits) -> Cell {
    do { return try readCell(bytes, type, limits) } catch { return Cell(.damaged, "\(error)") }
  }

  private func readCell(
    _ bytes: [UInt8], _ type: StoredType, _ limits: CellLimits
  ) throws -> Cell {
    switch type {
    case .optional(let wrapped):
      if bytes.first == 0 { return Cell(.none) }
      return try readCell(Array(bytes.dropFirst()), wrapped, limits)
    case .string: return Self.textCell(bytes.dropFirst(4), limits.characters)
    case .bool, .integer, .float, .double: return try plainCell(bytes, type)
    case .date: return Cell(.date, Self.text(try value(bytes, type)))
    case .uuid: return Cell(.uuid, Self.text(try value(bytes, type)))
    case .enumeration: return Cell(.choice, Self.text(try value(bytes, type)))
    case .reference, .anyReference:
      guard case .string(let id) = try value(bytes, type) else { return Cell(.none) }
      return reference(id)
    case .references, .referenceSet, .anyReferences, .anyReferenceSet:
      return try listCell(bytes, type, limits)
    case .data, .external, .custom: return try bytesCell(bytes, type)
    case .array, .set, .dictionary, .codable:
      let isList = if case .codable = type { false } else { true }
      var cell = Self.textCell(
        Array(try Self.json(try value(bytes, type)).utf8)[...], limits.characters)
      cell.kind = .list
      if isList { cell.count = Self.count(bytes) }
      return cell
    }
  }

  private func plainCell(_ bytes: [UInt8], _ type: StoredType) throws -> Cell {
    let value = try value(bytes, type)
    if case .bool(let flag) = value { return Cell(.bool, flag ? "true" : "false") }
    return Cell(.number, Self.text(value))
  }

  private func bytesCell(_ bytes: [UInt8], _ type: StoredType) throws -> Cell {
    if case .custom(let name) = type { return Cell(.opaque, "\(name), \(bytes.count) bytes") }
    if case .external = type {
      var buffer = DataBuffer(bytes)
      let content = try ExternalContent(from: &buffer)
      switch content {
      case .inline(let bytes): return Cell(.bytes, "\(bytes.count) bytes")
      case .outside(let reference): return Cell(.bytes, "\(reference.byteCount) bytes, in a file")
      }
    }
    return Cell(.bytes, "\(max(0, bytes.count - 4)) bytes")
  }

  private func listCell(_ bytes: [UInt8], _ type: StoredType, _ limits: CellLimits) throws -> Cell {
    var cell = Cell(.references)
    cell.count = Self.count(bytes)
    if limits.items > 0 {
      cell.items = try references(bytes, type).prefix(limits.items).map { reference("\($0)") }
    }
    return cell
  }

  /// Returns the addresses in a list, in order.
  func references(_ bytes: [UInt8], _ type: StoredType) throws -> [ObjectAddress] {
    switch try value(bytes, type) {
    case .array(let elements):
      elements.compactMap { element in
        if case .string(let text) = element { ObjectAddress(text) } else { nil }
      }
    case .string(let text): [ObjectAddress(text)].compactMap(\.self)
    default: []
    }
  }

  /// Returns the cell of a reference, with the title of its object.
  func reference(_ id: String) -> Cell {
    var cell = Cell(.reference, id)
    cell.id = id
    if let address = ObjectAddress(id) { cell.title = title(of: address) }
    return cell
  }

  // MARK: Texts

  private static func count(_ bytes: [UInt8]) -> Int {
    var buffer = DataBuffer(bytes)
    if let found = try? buffer.readReferenceCount() { return found.count }
    return bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns the beginning of a text, without reading the rest of a long one.
  private static func textCell(_ utf8: ArraySlice<UInt8>, _ limit: Int) -> Cell {
    // A character of this text has at most a few scalars; what is left over is cut.
    let start = String(decoding: utf8.prefix(limit * 4), as: UTF8.self)
    let text = String(start.prefix(limit))
    var cell = Cell(.text, text)
    if text.utf8.count < utf8.count { cell.cutFrom = utf8.count }
    return cell
  }

  static func text(_ value: StoredValue) -> String {
    switch value {
    case .string(let text): text
    default: (try? json(value)) ?? "?"
    }
  }

  static func json(_ value: StoredValue) throws -> String {
    var bytes: [UInt8] = []
    try JSONWriter.append(value, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
