import Files
import FoundationEssentials
import StoreEngine

/// The parameters of the function in the server that executes a commit.
struct CommitArguments {
  /// A table that a commit changes, or that its basis includes.
  enum Table {
    case records(TableID)
    case ordered(OrderedTableID)
  }

  /// The tables, in the order of their numbers in the server's answer, which begin with 1.
  private(set) var tables: [Table] = []
  private(set) var tableNames: [String] = []
  private(set) var tableKinds: [Int16] = []
  private(set) var metadata: [[UInt8]?] = []
  private(set) var lastRows: [Int64?] = []
  /// The number of tables that the commit changes, which come first.
  private(set) var changedTableCount = 0

  private(set) var rows = Rows()
  private(set) var keys = Keys()
  private(set) var cleared: [Int32] = []
  private(set) var basisRows = Rows()
  private(set) var ranges: [(table: Int32, range: KeyRange)] = []
  private(set) var basisKeys: (tables: [Int32], keys: [[UInt8]?]) = ([], [])
  /// The external values of the keys, as far as they are in the catalogue.
  private(set) var keyIDs: [Int: ExternalID] = [:]
  /// The changes that concern the history.
  let history: HistoryArguments

  /// Rows, the numbers of their tables, and the ranges of their bytes in the change set.
  struct Rows {
    var tables: [Int32] = []
    var rows: [Int64] = []
    var kinds: [Int16] = []
    var ranges: [Range<Int>] = []
  }

  struct Keys {
    var tables: [Int32] = []
    var keys: [Range<Int>] = []
    var values: [Range<Int>?] = []
  }

  /// The changes as the server gets them.
  let changes: ChangeSet
  /// The changes as they were committed.
  let plain: ChangeSet
  let backend: PostgreSQLBackend

  /// The number of bytes that are sent in one piece.
  static let pieceByteCount = 4 << 20
  /// The number of rows that are sent in one piece.
  private static let pieceRowCount = 16384

  /// Whether the commit is small enough to be sent together with others.
  var isSmall: Bool {
    rows.rows.count + keys.keys.count + plain.names.count < CommitPlan.copiedRowCount
      && changes.bytes.count <= Self.pieceByteCount / 4
  }

  init(
    _ plain: ChangeSet, _ request: CommitRequest, _ history: HistoryArguments,
    _ backend: PostgreSQLBackend
  ) throws(StoreError) {
    (self.plain, self.history, self.backend) = (plain, history, backend)
    changes =
      try backend.sealing?.sealed(plain, table: backend.name(of:), ordered: backend.name(of:))
      ?? plain
    for table in changes.tables where !table.records.isEmpty { try add(table) }
    for table in changes.ordered where !table.isEmpty { try add(table) }
    changedTableCount = tables.count
    guard let basis = request.basis else { return }
    for row in basis.rows {
      basisRows.tables.append(try place(of: row.table))
      basisRows.rows.append(Int64(row.rowID))
    }
    for (table, range) in basis.keys { try add(range, of: table) }
  }

  // MARK: Gathering

  private mutating func place(of table: TableID) throws(StoreError) -> Int32 {
    let known = tables.firstIndex {
      if case .records(table) = $0 { true } else { false }
    }
    if let known { return Int32(known) + 1 }
    return Int32(add(.records(table), .records, try backend.serverName(of: table))) + 1
  }

  private mutating func place(of table: OrderedTableID) throws(StoreError) -> Int32 {
    let known = tables.firstIndex {
      if case .ordered(table) = $0 { true } else { false }
    }
    if let known { return Int32(known) + 1 }
    let name = try backend.serverName(of: table)
    return Int32(add(.ordered(table), Schema.TableKind(name.kind), name.name)) + 1
  }

  private mutating func add(_ table: Table, _ kind: Schema.TableKind, _ name: String) -> Int {
    tables.append(table)
    tableKinds.append(kind.rawValue)
    tableNames.append(name)
    metadata.append(nil)
    lastRows.append(nil)
    return tables.count - 1
  }

  /// Adds a range of keys to the basis.
  ///
  /// The server finds single keys, of which there may be many, by a hash. It does not know which
  /// keys of an encrypted store are in a range, so any key may be.
  private mutating func add(_ range: KeyRange, of table: OrderedTableID) throws(StoreError) {
    let place = try place(of: table)
    guard let key = range.onlyKey else {
      return ranges.append((place, backend.sealing == nil ? range : KeyRange()))
    }
    basisKeys.tables.append(place)
    basisKeys.keys.append(try backend.serverKey(key, of: table))
  }

  private mutating func add(_ table: ChangeSet.TableChanges) throws(StoreError) {
    let place = try place(of: table.table)
    for record in table.records {
      rows.tables.append(place)
      rows.rows.append(Int64(record.rowID))
      rows.kinds.append(Int16(record.kind.rawValue))
      rows.ranges.append(record.range)
      guard record.rowID == ClassMetadata.rowID else { continue }
      let bytes = record.kind == .delete ? [] : Array(changes.bytes[record.range])
      metadata[Int(place) - 1] = bytes
      lastRows[Int(place) - 1] = lastRow(of: table.table)
    }
  }

  /// Returns the last row that the metadata row of a table names.
  private func lastRow(of table: TableID) -> Int64 {
    let records = plain.tables.first { $0.table == table && !$0.records.isEmpty }?.records ?? []
    guard let record = records.last(where: { $0.rowID == ClassMetadata.rowID }),
      record.kind != .delete
    else { return 0 }
    return Int64(ClassMetadata(row: Array(plain.bytes[record.range]))?.lastRowID ?? 0)
  }

  private mutating func add(_ table: ChangeSet.OrderedTableChanges) throws(StoreError) {
    let place = try place(of: table.table)
    if table.clearsFirst { cleared.append(place) }
    noteValues(table.table)
    // If a key has several changes, the last one counts.
    var places: [[UInt8]: Int] = [:]
    places.reserveCapacity(table.changes.count)
    for change in table.changes {
      let value = change.isRemoval ? nil : change.value
      if let known = places.updateValue(keys.keys.count, forKey: Array(changes.bytes[change.key])) {
        keys.values[known] = value
        places[Array(changes.bytes[change.key])] = known
        continue
      }
      keys.tables.append(place)
      keys.keys.append(change.key)
      keys.values.append(value)
    }
  }

  /// Records which values the keys of the catalogue refer to, by their places in `keys`.
  private mutating func noteValues(_ table: OrderedTableID) {
    guard table == backend.catalogue,
      let own = plain.ordered.first(where: { $0.table == table && !$0.isEmpty })
    else { return }
    var places: [[UInt8]: Int] = [:]
    for change in own.changes {
      let key = Array(plain.bytes[change.key])
      let place = places[key] ?? keys.keys.count + places.count
      places[key] = place
      if let id = ExternalCatalogue.value(ofKey: key) { keyIDs[place] = id }
    }
  }

  // MARK: Statements

  /// Returns the statements that execute the commit together, and the rows to copy after them.
  ///
  /// The server assigns the number. If `required` is given, the server refuses the commit if there
  /// are commits after that number. No key in the ranges of the basis has changed up to
  /// `rangesSince`. A commit that is not divided is one statement, of any size.
  func plan(
    _ commit: Commit, required: UInt64?, rangesSince: UInt64?, isDivided: Bool
  ) throws(StoreError) -> CommitPlan {
    let (firstRows, moreRows, copied) = rowPieces(isDivided)
    let (firstKeys, moreKeys) = keyPieces(isDivided)
    let token = Parameter.uuid(commit.token)
    var parameters: [Parameter] = [
      .int4(backend.storeID), token, .bytes(try backend.serverAuthor(commit)),
      .int(commit.microseconds), .int(commit.basedOn), .int(required),
      .bool(backend.sealing != nil), .texts(tableNames), .int2s(tableKinds),
      array(metadata), .ints(lastRows), .int4s(rows.tables), .ints(rows.rows), .int2s(rows.kinds),
    ]
    parameters += rowParameters(firstRows)
    parameters += nameParameters()
    parameters += [.int4s(cleared), .int4s(keys.tables), array(keys.keys)]
    parameters += [.int2s(keys.values.map { $0 == nil ? 2 : 1 }), rememberedValues()]
    parameters += keyParameters(firstKeys)
    parameters += [.int4s(basisRows.tables), .ints(basisRows.rows)]
    parameters += [
      .int4s(ranges.map(\.table)), array(ranges.map(\.range.from)), array(ranges.map(\.range.to)),
      .int(rangesSince), .int4s(basisKeys.tables), array(basisKeys.keys),
      .uuids(values(areRemoved: false)), .uuids(values(areRemoved: true)),
      .uuids(keyIDs.isEmpty ? [] : keys.keys.indices.map { keyIDs[$0] }),
    ]
    parameters += history.parameters(
      tables, isInPieces: !moreRows.isEmpty || !moreKeys.isEmpty || !copied.isEmpty)
    let places = (1...parameters.count).map { "$\($0)" }.joined(separator: ", ")
    let first = Statement(
      "select * from stored_objects.commit(\(places))", parameters, name: .commit)
    let pieces = moreRows.map { more(rows: $0, token) } + moreKeys.map { more(keys: $0, token) }
    if copied.isEmpty { return CommitPlan(statements: [first] + pieces) }
    return CommitPlan(
      statements: [first] + pieces, rows: copied.map { copiedRow($0) }, bytes: changes.bytes,
      tables: Statement(
        CommitPlan.tableNumbers, [.int4(backend.storeID), .int2s(tableKinds), .texts(tableNames)]))
  }

  /// Returns the external values of which keys in the catalogue are removed, or set.
  private func values(areRemoved: Bool) -> [ExternalID] {
    Array(Set(keyIDs.filter { (keys.values[$0.key] == nil) == areRemoved }.map(\.value)))
  }

  /// Returns the small values that the news of the commit includes.
  ///
  /// The entries of lists of tables have such values.
  func rememberedValues() -> Parameter {
    array(
      keys.values.indices.map { index in
        // A sealed value also contains its key.
        let overhead = backend.sealing.map { $0.overhead + keys.keys[index].count } ?? 0
        let kind = tableKinds[Int(keys.tables[index]) - 1]
        let limit = Schema.rememberedValueByteCount + overhead
        guard let value = keys.values[index], value.count <= limit,
          kind == Schema.TableKind.data.rawValue
        else { return nil }
        return Array(changes.bytes[value])
      })
  }

  private func rowParameters(_ part: [Int]) -> [Parameter] {
    [
      .int4s(part.map { rows.tables[$0] }), .ints(part.map { rows.rows[$0] }),
      array(part.map { rows.ranges[$0] }),
    ]
  }

  private func keyParameters(_ part: [Int]) -> [Parameter] {
    [
      .int4s(part.map { keys.tables[$0] }), array(part.map { keys.keys[$0] }),
      array(part.compactMap { keys.values[$0] }),
    ]
  }

  private func nameParameters() -> [Parameter] {
    [
      array(changes.names.map { Array($0.name.utf8) }),
      array(changes.names.map { $0.range.map { Array(changes.bytes[$0]) } }),
    ]
  }

  private func more(rows part: [Int], _ token: Parameter) -> Statement {
    let name = tableNames[Int(rows.tables[part[0]]) - 1]
    return Statement(
      "select stored_objects.put_records($1, $2, $3, $4, $5)",
      [.int4(backend.storeID), token, .text(name)] + rowParameters(part).dropFirst())
  }

  private func more(keys part: [Int], _ token: Parameter) -> Statement {
    let table = Int(keys.tables[part[0]]) - 1
    return Statement(
      "select stored_objects.put_keys($1, $2, $3, $4, $5, $6)",
      [.int4(backend.storeID), token, .int2(tableKinds[table]), .text(tableNames[table])]
        + keyParameters(part).dropFirst())
  }

  private func copiedRow(_ index: Int) -> CommitPlan.Row {
    .init(table: rows.tables[index], row: rows.rows[index], range: rows.ranges[index])
  }

  func array(_ ranges: [Range<Int>]) -> Parameter {
    var array = Parameter.ByteArrays(count: ranges.count)
    for range in ranges { array.append(changes.bytes[range]) }
    return .bytesArray(array)
  }

  func array(_ elements: [[UInt8]?]) -> Parameter {
    var array = Parameter.ByteArrays(count: elements.count)
    for element in elements {
      if let element { array.append(element) } else { array.appendNull() }
    }
    return .bytesArray(array)
  }

  // MARK: Pieces

  /// Returns the records that are sent with the commit, those that follow in pieces per table, and
  /// those that are copied.
  private func rowPieces(_ isDivided: Bool) -> (first: [Int], more: [[Int]], copied: [Int]) {
    let puts = rows.rows.indices.filter { rows.kinds[$0] != Int16(Schema.removal) }
    // The commit decides which metadata rows it keeps, so they are always sent with it.
    let (metadata, others) = (
      puts.filter { rows.rows[$0] == 1 }, puts.filter { rows.rows[$0] != 1 }
    )
    guard isDivided else { return (metadata + others, [], []) }
    let new = Int16(ChangeSet.Kind.insert.rawValue)
    if others.count >= CommitPlan.copiedRowCount, others.allSatisfy({ rows.kinds[$0] == new }) {
      return (metadata, [], others)
    }
    let size = { (index: Int) in rows.ranges[index].count }
    if Self.isSmall(others, size) { return (metadata + others, [], []) }
    return (metadata, Self.pieces(others, { rows.tables[$0] }, size), [])
  }

  private func keyPieces(_ isDivided: Bool) -> (first: [Int], more: [[Int]]) {
    let puts = keys.keys.indices.filter { keys.values[$0] != nil }
    let size = { (index: Int) in keys.keys[index].count + (keys.values[index]?.count ?? 0) }
    if !isDivided || Self.isSmall(puts, size) { return (puts, []) }
    return ([], Self.pieces(puts, { keys.tables[$0] }, size))
  }

  private static func isSmall(_ indices: [Int], _ size: (Int) -> Int) -> Bool {
    indices.count <= pieceRowCount && indices.reduce(0) { $0 + size($1) } <= pieceByteCount
  }

  /// Divides changes into pieces of one table each, of about `pieceByteCount` bytes.
  private static func pieces(
    _ indices: [Int], _ table: (Int) -> Int32, _ size: (Int) -> Int
  ) -> [[Int]] {
    var pieces: [[Int]] = []
    var byteCount = 0
    for index in indices {
      let isFull = byteCount >= pieceByteCount || (pieces.last?.count ?? 0) >= pieceRowCount
      if let first = pieces.last?[0], table(first) == table(index), !isFull {
        pieces[pieces.count - 1].append(index)
      } else {
        pieces.append([index])
        byteCount = 0
      }
      byteCount += size(index)
    }
    return pieces
  }
}
