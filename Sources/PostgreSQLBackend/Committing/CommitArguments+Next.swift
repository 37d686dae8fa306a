import Files
import StoreEngine

/// The numbers of tables in the server, which never change.
struct ServerTableIDs: Sendable {
  private var records: [TableID: Int32] = [:]
  private var ordered: [OrderedTableID: Int32] = [:]

  /// The number of a table; nil if it is not known.
  subscript(table: CommitArguments.Table) -> Int32? {
    get {
      switch table {
      case .records(let table): records[table]
      case .ordered(let table): ordered[table]
      }
    }
    set {
      switch table {
      case .records(let table): records[table] = newValue
      case .ordered(let table): ordered[table] = newValue
      }
    }
  }
}

// The commits that the function for small commits can execute.
extension CommitArguments {
  /// Whether the function can execute the commit: it is small and changes only rows and keys.
  var isSimple: Bool {
    isSmall && plain.names.isEmpty && cleared.isEmpty && keyIDs.isEmpty && history.isNone(tables)
      && !metadata.contains { $0?.isEmpty == true }
  }

  /// Whether the commit writes a metadata row.
  var hasMetadata: Bool { metadata.contains { $0 != nil } }

  /// The number of rows from which on commits of others are compared by lists that are hashed.
  private static let comparedRowCount = 16

  /// Whether the commit may be compared with commits of others row by row.
  ///
  /// Keys are not compared, so a commit that changes some would often be sent in vain.
  var isTiny: Bool {
    keys.keys.isEmpty && rows.rows.count + basisRows.rows.count <= Self.comparedRowCount
  }

  /// Whether the commit changes one record and nothing else.
  var isOfOneRow: Bool { rows.rows.count == 1 && keys.keys.isEmpty && !hasMetadata }

  /// Returns the statement that executes a commit of one record directly after another commit.
  ///
  /// - Returns: nil if the number of the table is not known.
  /// - Throws: `StoreError` for an author that can't be sealed.
  func row(
    _ commit: Commit, after previous: Commit, _ known: ServerTableIDs
  ) throws(StoreError) -> Statement? {
    guard let table = known[tables[0]] else { return nil }
    return Statement(
      Self.row,
      [
        .int4(backend.storeID), .int(previous.number), .uuid(previous.token), .uuid(commit.token),
        .bytes(try backend.serverAuthor(commit)), .int(commit.microseconds),
        .int(commit.basedOn), .int4(table), .text(tableNames[0]), .int(rows.rows[0]),
        .int2(rows.kinds[0]),
        rows.kinds[0] == Int16(Schema.removal)
          ? .bytes(nil) : .bytes(Array(changes.bytes[rows.ranges[0]])),
      ], name: .commitRow)
  }

  /// Returns the statement that executes the commit directly after another one.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - last: The number of the other one.
  ///   - previous: The other one, if it is in the same transaction. If it isn't made, this commit
  ///     must not be made either: it was not compared with one that may be there instead.
  ///   - known: The numbers of tables.
  /// - Returns: nil if the number of a table is not known.
  /// - Throws: `StoreError` for an author that can't be sealed.
  func next(
    _ commit: Commit, after last: UInt64, _ previous: Commit?, _ known: ServerTableIDs
  ) throws(StoreError) -> Statement? {
    try nextParameters(commit, after: last, known).map {
      Statement(Self.next, $0 + [.uuid(previous?.token)], name: .commitNext)
    }
  }

  /// Returns the statement that executes the commit after others that have not changed its basis.
  ///
  /// - Returns: nil if the number of a table is not known.
  func after(
    _ commit: Commit, after last: UInt64, _ known: ServerTableIDs
  ) throws(StoreError) -> Statement? {
    guard var parameters = try nextParameters(commit, after: last, known) else { return nil }
    var basis: [Int32] = []
    for place in basisRows.tables {
      guard let id = known[tables[Int(place) - 1]] else { return nil }
      basis.append(id)
    }
    var ordered: [Int32] = []
    for case .ordered(let table) in tables {
      guard let id = known[.ordered(table)] else { return nil }
      ordered.append(id)
    }
    parameters += [.int4s(basis), .ints(basisRows.rows), .int4s(ordered)]
    return Statement(Self.after, parameters, name: .commitAfter)
  }

  private func nextParameters(
    _ commit: Commit, after last: UInt64, _ known: ServerTableIDs
  ) throws(StoreError) -> [Parameter]? {
    let count = changedTableCount
    var ids: [Int32] = []
    for table in tables[..<count] {
      guard let id = known[table] else { return nil }
      ids.append(id)
    }
    var parameters: [Parameter] = [
      .int4(backend.storeID), .int(last), .int(1 + rows.rows.count + keys.keys.count),
      .bool(backend.sealing != nil), .uuid(commit.token),
      .bytes(try backend.serverAuthor(commit)), .int(commit.microseconds), .int(commit.basedOn),
      .int4s(ids), .int2s(Array(tableKinds[..<count])), .texts(Array(tableNames[..<count])),
      hasMetadata ? array(Array(metadata[..<count])) : .noBytesArray,
    ]
    parameters += rowsOfNext()
    parameters += keysOfNext()
    return parameters
  }

  private static let row = "select stored_objects.commit_row(\(places(12)))"
  private static let next = "select stored_objects.commit_next(\(places(25)))"
  private static let after = "select stored_objects.commit_after(\(places(27)))"

  private static func places(_ count: Int) -> String {
    (1...count).map { "$\($0)" }.joined(separator: ", ")
  }

  private func rowsOfNext() -> [Parameter] {
    var more = [Int64](repeating: 0, count: changedTableCount)
    var last = [Int64](repeating: 0, count: changedTableCount)
    var data = Parameter.ByteArrays(count: rows.rows.count)
    for index in rows.rows.indices {
      let table = Int(rows.tables[index]) - 1
      switch rows.kinds[index] {
      case Int16(Schema.removal):
        more[table] -= 1
        data.appendNull()
        continue
      case Int16(ChangeSet.Kind.insert.rawValue): more[table] += 1
      default: break
      }
      last[table] = max(last[table], rows.rows[index], lastRows[table] ?? 0)
      data.append(changes.bytes[rows.ranges[index]])
    }
    return [
      .ints(Array(lastRows[..<changedTableCount])), .ints(more), .ints(last), .int4s(rows.tables),
      .ints(rows.rows), .int2s(rows.kinds), .bytesArray(data),
    ]
  }

  private func keysOfNext() -> [Parameter] {
    if keys.keys.isEmpty {
      return [.noInt4s, .noBytesArray, .noInt2s, .noBytesArray, .noBytesArray]
    }
    return [
      .int4s(keys.tables), array(keys.keys),
      .int2s(keys.values.map { $0 == nil ? Int16(Schema.removal) : 1 }), rememberedValues(),
      array(keys.values.map { value in value.map { Array(changes.bytes[$0]) } }),
    ]
  }
}
