package import StoreEngine

/// The full-text index of a class, from what the store keeps of it, without the class.
///
/// The store keeps the names of the attributes, but not how their texts are made. Those that
/// `@FullText` declares are the texts of the properties of the same names.
package struct RecordTextIndex {
  /// The names of the attributes.
  package let attributes: [String]
  private let text: RegisteredText
  private let backend: any StoreBackend

  /// Creates the index of a class; returns nil if there is none that a program of this release has
  /// completed.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package init?(of className: String, in backend: any StoreBackend) throws(StoreError) {
    let name = OrderedTableName(className + IndexNames.fullText, kind: .index)
    let table = try backend.orderedTable(name)
    var stamp: [UInt8] = []
    guard try backend.copyValue(of: PostingFormat.stampKey, in: table, to: &stamp),
      let text = RegisteredText(stamp: stamp, table)
    else { return nil }
    (attributes, self.text, self.backend) = (text.attributes.map(\.name), text, backend)
  }

  /// The number of objects in the index.
  package func objectCount() throws(StoreError) -> Int {
    Int(clamping: try text.counts(backend).objects)
  }

  /// Returns the rows that match a query, the best first.
  ///
  /// - Parameters:
  ///   - query: A query as for `Store.search`.
  ///   - limit: The maximum number of rows.
  /// - Returns: The rows, and the number of all that match.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidQuery`, `damaged`, `ioError` or `closed`.
  package func search(
    _ query: String, limit: Int
  ) throws(StoreError) -> (rows: [UInt32], count: Int) {
    let compiled = CompiledQuery(try TextQuery(parsing: query))
    guard !compiled.isEmpty else { return ([], 0) }
    var best = BestRows(limit)
    try TextSearch(compiled, text, Array(attributes.indices))
      .run(backend, without: RowSet(), unsaved: [], into: &best)
    return (best.sorted().map(\.row), best.count)
  }

  /// Returns whether the index has texts of these lengths for a row.
  package func agrees(_ row: UInt32, _ texts: [String]) throws(StoreError) -> Bool {
    var lengths = TextLengths(text, backend)
    for (attribute, text) in texts.enumerated() {
      let code = PostingFormat.code(length: FoldedText(text).scalars.count)
      guard try lengths.length(row, attribute) == PostingFormat.length(code: code) else {
        return false
      }
    }
    return texts.count == attributes.count
  }

  /// Adds the changes for some rows, which ascend, to a change set.
  ///
  /// - Parameters:
  ///   - rows: Each row with its texts before, nil if it is new, and after, nil if it is deleted.
  ///   - changes: The change set.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package func addChanges(
    _ rows: [(row: UInt32, old: [String]?, new: [String]?)], to changes: inout ChangeSet
  ) throws(StoreError) {
    var update = try TextIndexUpdate(text, backend, isNew: false)
    for (row, old, new) in rows { update.replace(row, old, new) }
    try update.finish(&changes, stamp: text.stamp)
  }
}

extension RegisteredText {
  /// Creates an index from its stamp; returns nil if it is unfinished, or of another release.
  fileprivate init?(stamp: [UInt8], _ table: OrderedTableID) {
    let parts = String(decoding: stamp, as: UTF8.self).split(
      separator: "\u{1F}", omittingEmptySubsequences: false)
    guard parts.count > 1, parts.count < 256,
      let version = parts[0].split(separator: " ").last.map(String.init)
    else { return nil }
    let names = parts.dropFirst().map(String.init)
    let attributes = names.map { name in
      FullTextAttribute(name) { (_: StoredObject) in nil }
    }
    self.init(attributes, table, contentVersion: version)
    guard self.stamp == stamp else { return nil }
  }
}
