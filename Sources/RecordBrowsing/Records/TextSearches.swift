import Foundation
import StoreEngine
import StoredObjectsCore

/// A part of the results of a text search.
package struct SearchPage: Sendable {
  /// An object that was found.
  package struct Hit: Sendable {
    /// The ID.
    package let id: String
    /// Its title.
    package let title: String
    /// The property with the text, and a part of the text.
    package let property: String?
    package let snippet: String?
  }

  /// The objects.
  package var hits: [Hit] = []
  /// The position to continue from; nil at the end.
  package var cursor: String?
  /// The number of objects that were looked at without an index, and of all.
  package var progress: (done: Int, of: Int) = (0, 0)
  /// The classes whose full-text indexes were used.
  package var indexed: [String] = []
  /// The number of objects that the indexes have found.
  package var indexedCount = 0
}

extension BrowsedState {
  /// Searches texts: by full-text indexes where the store has them, and otherwise object by object
  /// until time is up.
  ///
  /// - Parameters:
  ///   - query: Words for an index; objects are searched for the whole text, without regard to case
  ///     and accents.
  ///   - className: The class; nil for all.
  ///   - cursor: The position of an earlier part; nil for the beginning.
  ///   - limit: The number of objects after which to stop.
  ///   - time: The maximum time.
  /// - Returns: The objects that were found.
  /// - Throws: ``BrowsingError``, or ``/StoreEngine/StoreError`` with `invalidQuery`, `ioError`.
  package func search(
    _ query: String, in className: String?, cursor: String?, limit: Int, time: Duration
  ) throws -> SearchPage {
    let wanted = try className.map { [try browsedClass($0)] } ?? classes
    let text = query.trimmingCharacters(in: .whitespacesAndNewlines)
    var page = SearchPage()
    guard !text.isEmpty else { return page }
    var others: [BrowsedClass] = []
    for known in wanted {
      if let index = try textIndex(of: known) {
        page.indexed.append(known.name)
        if cursor == nil { try add(index, known, text, limit, to: &page) }
      } else if known.properties.contains(where: { $0.type.isText }) {
        others.append(known)
      }
    }
    try scan(others, FoldedString(text), cursor, limit, .now + time, &page)
    return page
  }

  /// Returns the full-text index of a class if it has all objects.
  func textIndex(of known: BrowsedClass) throws(StoreError) -> RecordTextIndex? {
    guard let index = try RecordTextIndex(of: known.name, in: backend),
      try index.objectCount() == known.objectCount
    else { return nil }
    return index
  }

  private func add(
    _ index: RecordTextIndex, _ known: BrowsedClass, _ query: String, _ limit: Int,
    to page: inout SearchPage
  ) throws {
    let found = try index.search(query, limit: limit)
    page.indexedCount += found.count
    let folded = FoldedString(query.split(separator: " ").first.map(String.init) ?? query)
    for row in found.rows {
      guard let record = try record(row, known) else { continue }
      let property = index.attributes.first { name in
        text(of: record, name).map { $0.folded.contains(folded) } ?? false
      }
      page.hits.append(hit(record, known, property ?? index.attributes.first, folded))
    }
  }

  private func hit(
    _ record: BrowsedRecord, _ known: BrowsedClass, _ property: String?, _ folded: FoldedString
  ) -> SearchPage.Hit {
    let text = property.flatMap { beginning(of: record, $0) }
    return SearchPage.Hit(
      id: record.id, title: title(of: record, known), property: property,
      snippet: text.map { Self.snippet($0, folded) })
  }

  /// The number of bytes of a text that are searched without an index.
  private static let searchedBytes = 256 << 10

  /// Returns the beginning of the text of a property; nil if it is not a text.
  private func beginning(of record: BrowsedRecord, _ name: String) -> String? {
    guard let part = record.part(name), part.type.isText else { return nil }
    var (utf8, type) = (part.bytes[...], part.type)
    while case .optional(let wrapped) = type {
      if utf8.first == 0 { return nil }
      (utf8, type) = (utf8.dropFirst(), wrapped)
    }
    return String(decoding: utf8.dropFirst(4).prefix(Self.searchedBytes), as: UTF8.self)
  }

  /// Returns the whole text of a property; nil if it is not a text.
  func text(of record: BrowsedRecord, _ name: String) -> String? {
    guard let part = record.part(name), part.type.isText,
      case .string(let text)? = try? value(part.bytes, part.type)
    else { return nil }
    return text
  }

  private static let snippetLength = 120

  /// Returns the part of a text around a match.
  private static func snippet(_ text: String, _ folded: FoldedString) -> String {
    // Long texts are searched in pieces that overlap.
    var start = text.startIndex
    while start < text.endIndex {
      let end = text.index(start, offsetBy: 400, limitedBy: text.endIndex) ?? text.endIndex
      let piece = String(text[start..<end])
      if piece.folded.contains(folded) {
        return (start > text.startIndex ? "…" : "") + piece.prefix(snippetLength)
          + (piece.count > snippetLength || end < text.endIndex ? "…" : "")
      }
      guard end < text.endIndex else { break }
      start = text.index(end, offsetBy: -folded.text.count, limitedBy: start) ?? end
      if start < end, text.distance(from: start, to: end) >= 400 { start = end }
    }
    return String(text.prefix(snippetLength))
  }

  private func scan(
    _ classes: [BrowsedClass], _ folded: FoldedString, _ cursor: String?, _ limit: Int,
    _ deadline: ContinuousClock.Instant, _ page: inout SearchPage
  ) throws {
    let end = try walk(classes, from: cursor, until: deadline) { rows, known in
      for (rowID, bytes) in rows {
        guard let record = try? known.record(rowID, bytes) else { continue }
        let property = record.properties.first { property in
          beginning(of: record, property.name).map { $0.folded.contains(folded) } ?? false
        }
        if let property { page.hits.append(hit(record, known, property.name, folded)) }
      }
      return page.hits.count >= limit
    }
    (page.cursor, page.progress) = (end.cursor, end.progress)
  }
}
