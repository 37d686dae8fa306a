import Files
import Locks
import StoreEngine
package import StoredObjectsCore

/// A question for the objects of a class: a condition, an order, and a page.
package struct BrowsedQuery: Sendable {
  /// The class.
  package var className: String
  /// The condition, such as `seconds > 200`; nil or empty for all objects.
  package var condition: String?
  /// The property to sort by, "id" for row IDs; nil for the order that is found first.
  package var order: String?
  /// Whether the last object comes first.
  package var isDescending = false
  /// The position after which to continue, from an earlier page; nil for the beginning.
  package var cursor: String?
  /// The maximum number of objects.
  package var limit = 100
  /// The maximum time for looking at objects that do not satisfy the condition.
  package var time = Duration.milliseconds(400)

  /// Creates a query for all objects of a class.
  package init(_ className: String) { self.className = className }
}

/// A page of the objects that satisfy a query.
package struct BrowsedPage: Sendable {
  /// An object of the page.
  package struct Row: Sendable {
    /// The ID, such as "Song/42".
    package let id: String
    /// The row.
    package let rowID: UInt32
    /// The values of the columns; a single damaged cell for a record that can't be read.
    package let cells: [Cell]
    /// The reason why the record can't be read.
    package let damage: String?
  }

  /// The properties of the class.
  package var columns: [SavedLayout.SavedProperty] = []
  /// The objects.
  package var rows: [Row] = []
  /// The records of the objects, in the same order; empty for one that can't be read.
  package var records: [BrowsedRecord?] = []
  /// The position of the next page; nil at the end.
  package var cursor: String?
  /// The number of objects that were looked at.
  package var lookedAt = 0
  /// Whether the page ended because time was up, and not because it is full.
  package var isInterrupted = false
  /// How the objects were found, in words.
  package var plan = ""
}

extension BrowsedState {
  /// The largest class, or part of one, that is sorted without an index.
  package static let sortableCount = 50_000

  /// Returns a page of the objects that satisfy a query.
  ///
  /// - Throws: ``BrowsingError`` with `notFound` or `invalid`; ``/StoreEngine/StoreError`` with
  ///   `ioError`, `damaged` or `closed`.
  package func page(_ query: BrowsedQuery) throws -> BrowsedPage {
    let known = try browsedClass(query.className)
    let text = query.condition?.trimmingPrefix { $0.isWhitespace } ?? ""
    let condition = text.isEmpty ? nil : try WhereCondition(query.condition ?? "", for: known)
    var search = ObjectSearch(self, known, condition, query)
    try search.run()
    search.page.columns = known.properties
    return search.page
  }

  /// Returns the cells of a record in a table.
  func row(_ record: BrowsedRecord, _ known: BrowsedClass) -> BrowsedPage.Row {
    let cells = known.properties.map { property in
      record.part(property.name).map { cell($0.bytes, $0.type, .table) } ?? Cell(.none)
    }
    return BrowsedPage.Row(id: record.id, rowID: record.rowID, cells: cells, damage: nil)
  }
}

/// The search for a page of objects.
private struct ObjectSearch {
  let state: BrowsedState
  let known: BrowsedClass
  let condition: WhereCondition?
  let query: BrowsedQuery
  var page = BrowsedPage()
  private let deadline: ContinuousClock.Instant

  init(
    _ state: BrowsedState, _ known: BrowsedClass, _ condition: WhereCondition?,
    _ query: BrowsedQuery
  ) {
    (self.state, self.known, self.condition, self.query) = (state, known, condition, query)
    deadline = .now + query.time
  }

  mutating func run() throws {
    let range = try condition.flatMap { try state.indexRange(for: $0, of: known) }
    if let name = query.order, name != "id" || known.property("id") != nil {
      return try runSorted(by: name, range)
    }
    // Without a requested order, an index determines it.
    if let range, query.order == nil {
      page.plan = "index \(range.index.name)"
      return try walk(range)
    }
    page.plan = condition == nil ? "row IDs" : "row IDs, each object is compared"
    try walkRows()
  }

  private mutating func runSorted(by name: String, _ range: IndexRange?) throws {
    guard let property = known.property(name) else {
      throw BrowsingError(
        .invalid, "The class \(known.name) has no property \"\(name)\" to sort by.")
    }
    if let range, range.index.parts.first?.name == name {
      page.plan = "index \(range.index.name)"
      return try walk(range)
    }
    let selected = try range.map { range in
      try range.ranges.reduce(0) { $0 + (try state.backend.keyCount(in: range.index.table, $1)) }
    }
    if let index = try state.index(by: name, of: known), (selected ?? .max) > 2000 {
      page.plan = "index \(index.name)" + (condition == nil ? "" : ", each object is compared")
      return try walk(IndexRange(index: index, ranges: [.prefix([BrowsedIndex.mark])]))
    }
    let count = selected ?? known.objectCount
    guard count <= BrowsedState.sortableCount else {
      throw BrowsingError(
        .invalid,
        """
        \(known.name) has no index by \(name), and \(count) objects are too many to sort without \
        one. Add a condition, or declare an index in the program.
        """)
    }
    page.plan =
      "sorting in memory" + (range.map { ", after index \($0.index.name)" } ?? "")
    try walk(sortedRows(by: property, range))
  }

  // MARK: Walking

  private mutating func walkRows() throws {
    // In descending order, the cursor is the row before which the next page ends.
    let start = query.cursor.flatMap { UInt32($0) }
    var row = start ?? (query.isDescending ? .max : 0)
    while true {
      let position = query.isDescending ? RowPosition.before(row) : .after(row)
      let wanted = condition == nil ? query.limit - page.rows.count : BrowsedState.batchRows
      let found = try state.records(
        of: known, position, limit: max(1, wanted), maximumLookUps: 4096)
      for (rowID, bytes) in query.isDescending ? found.rows.reversed() : found.rows {
        try add(rowID, bytes)
        if page.rows.count == query.limit { return page.cursor = "\(rowID)" }
      }
      guard let last = found.last else { return }
      row = last
      if isLate { return interrupt(at: "\(row)") }
    }
  }

  private var isLate: Bool { ContinuousClock.now >= deadline }

  private mutating func interrupt(at cursor: String) {
    (page.cursor, page.isInterrupted) = (cursor, true)
  }

  private mutating func walk(_ range: IndexRange) throws {
    var ranges = query.isDescending ? range.ranges.reversed() : range.ranges
    if let cursor = query.cursor { ranges = try rest(of: ranges, after: cursor) }
    for keys in ranges {
      var keys = keys
      while !keys.isEmpty {
        var batch: [[UInt8]] = []
        let isEnd = try state.backend.scanKeys(
          of: range.index.table, keys, isReversed: query.isDescending
        ) { key, _ in
          batch.append([UInt8](copying: key))
          return batch.count < 128 ? .next : .pause
        }
        for key in batch {
          let row = BrowsedIndex.row(key)
          var bytes: [UInt8] = []
          guard try state.backend.copyRecord(row, in: known.table, to: &bytes) else { continue }
          try add(row, bytes)
          if page.rows.count == query.limit { return page.cursor = hexText(key) }
        }
        guard !isEnd, let last = batch.last else { break }
        if isLate { return interrupt(at: hexText(last)) }
        keys =
          query.isDescending
          ? KeyRange(from: keys.from, to: last) : KeyRange(after: last, to: keys.to)
      }
    }
  }

  private func rest(of ranges: [KeyRange], after cursor: String) throws -> [KeyRange] {
    guard let key = [UInt8](hex: cursor) else {
      throw BrowsingError(.invalid, "The position \"\(cursor)\" is not one of this order.")
    }
    return ranges.map { range in
      if query.isDescending {
        return range.contains(key) || !key.lexicographicallyPrecedes(range.from)
          ? KeyRange(from: range.from, to: least(range.to, key)) : KeyRange(from: [0], to: [0])
      }
      let from = key + [0]
      return range.from.lexicographicallyPrecedes(from)
        ? KeyRange(from: from, to: range.to) : range
    }.filter { !$0.isEmpty }
  }

  private func least(_ end: [UInt8]?, _ key: [UInt8]) -> [UInt8] {
    guard let end, end.lexicographicallyPrecedes(key) else { return key }
    return end
  }

  private mutating func walk(_ rows: [UInt32]) throws {
    let rows = query.isDescending ? rows.reversed() : rows
    let start = query.cursor.flatMap { Int($0) } ?? 0
    for (index, row) in rows.enumerated().dropFirst(start) {
      var bytes: [UInt8] = []
      guard try state.backend.copyRecord(row, in: known.table, to: &bytes) else { continue }
      try add(row, bytes)
      guard index + 1 < rows.count else { return }
      if page.rows.count == query.limit { return page.cursor = "\(index + 1)" }
      if isLate { return interrupt(at: "\(index + 1)") }
    }
  }

  /// Adds an object to the page if it satisfies the condition.
  private mutating func add(_ row: UInt32, _ bytes: [UInt8]) throws {
    page.lookedAt += 1
    do {
      let record = try known.record(row, bytes)
      if let condition, try !state.satisfies(record, condition) { return }
      page.rows.append(state.row(record, known))
      page.records.append(record)
    } catch {
      if error is BrowsingError { throw error }
      // Without a condition, a damaged object is shown in its place.
      guard condition == nil else { return }
      page.rows.append(
        .init(
          id: "\(known.name)/\(row)", rowID: row, cells: [Cell(.damaged, "\(error)")],
          damage: "\(error)"))
      page.records.append(nil)
    }
  }

  // MARK: Sorting

  private func sortedRows(
    by property: SavedLayout.SavedProperty, _ range: IndexRange?
  ) throws -> [UInt32] {
    if range == nil,
      let rows = state.findings.withLock({ $0.sortedRows["\(known.name) \(property.name)"] })
    {
      return rows
    }
    var keys: [(key: [UInt8], row: UInt32)] = []
    func add(_ row: UInt32, _ bytes: [UInt8]) {
      let part = (try? known.record(row, bytes))?.part(property.name)
      let key = part.flatMap { state.indexKey($0.bytes, $0.type, isFolded: false) }
      keys.append((key ?? [], row))
    }
    if let range {
      try forEachRow(of: range) { add($0, $1) }
    } else {
      var row: UInt32? = 0
      while let after = row {
        let found = try state.records(
          of: known, .after(after), limit: BrowsedState.batchRows, maximumLookUps: .max)
        for (rowID, bytes) in found.rows { add(rowID, bytes) }
        row = found.last
      }
    }
    keys.sort {
      $0.key == $1.key ? $0.row < $1.row : $0.key.lexicographicallyPrecedes($1.key)
    }
    let rows = keys.map(\.row)
    if range == nil {
      state.findings.withLock { $0.sortedRows["\(known.name) \(property.name)"] = rows }
    }
    return rows
  }

  private func forEachRow(
    of range: IndexRange, _ body: (UInt32, [UInt8]) -> Void
  ) throws(StoreError) {
    var rows: Set<UInt32> = []
    for keys in range.ranges {
      _ = try state.backend.scanKeys(of: range.index.table, keys, isReversed: false) { key, _ in
        rows.insert(BrowsedIndex.row([UInt8](copying: key)))
        return .next
      }
    }
    for (row, bytes) in try state.records(rows.sorted(), known) { body(row, bytes) }
  }
}

extension [UInt8] {
  /// Creates bytes from their text in hex; nil for another text.
  package init?(hex text: String) {
    let digits = [UInt8](text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    self = bytes
  }
}
