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

// The commits that the functions for small commits can execute.
extension CommitArguments {
  /// Whether the functions can execute the commit: it is small and changes only rows and keys.
  var isSimple: Bool {
    isSmall && plain.names.isEmpty && cleared.isEmpty && keyIDs.isEmpty && history.isNone(tables)
      && !metadata.contains { $0?.isEmpty == true }
  }

  /// Whether the commit writes a metadata row.
  var hasMetadata: Bool { metadata.contains { $0 != nil } }

  /// The maximum number of keys, and ranges of keys, that are compared with unknown commits.
  private static let comparedKeyCount = 64

  /// Whether the server can compare the commit with others quickly enough while it holds the lock.
  private var isComparable: Bool {
    keys.keys.count + basisKeys.keys.count + ranges.count <= Self.comparedKeyCount
  }

  /// Whether the commit changes one record and nothing else.
  private var isOfOneRow: Bool { rows.rows.count == 1 && keys.keys.isEmpty && !hasMetadata }

  /// Returns the statement that executes the commit after a known one, if others have not changed
  /// its basis since.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - known: The last commit that this process knows; its basis is compared up to there.
  ///   - mayFollow: Whether there may be other commits in between.
  ///   - followsOthers: Whether there probably are.
  ///   - ids: The numbers of tables.
  /// - Returns: nil if the number of a table is not known.
  /// - Throws: `StoreError` for an author that can't be sealed.
  func small(
    _ commit: Commit, after known: Commit, mayFollow: Bool, followsOthers: Bool,
    _ ids: ServerTableIDs
  ) throws(StoreError) -> Statement? {
    var tableIDs: [Int32] = []
    for table in tables {
      guard let id = ids[table] else { return nil }
      tableIDs.append(id)
    }
    let first: [Parameter] = [
      .int4(backend.storeID), .int(known.number), .uuid(known.token), .uuid(commit.token),
      .bytes(try backend.serverAuthor(commit)), .int(commit.microseconds), .int(commit.basedOn),
    ]
    // The function for one record compares the rows of the basis with no others.
    if isOfOneRow, basisRows.rows.isEmpty || !followsOthers {
      let mayFollow = mayFollow && basisRows.rows.isEmpty
      let ids = mayFollow ? Parameter.int4s(orderedTables(tableIDs)) : .noInt4s
      return Statement(
        Self.row, first + rowParameters(tableIDs[0]) + [.bool(followsOthers), ids],
        name: .commitRow)
    }
    let parameters =
      first + [.int(1 + rows.rows.count + keys.keys.count), .bool(mayFollow && isComparable)]
      + tablesOfSmall(tableIDs) + rowsOfSmall() + keysOfSmall() + basisOfSmall(tableIDs)
    return Statement(Self.small, parameters, name: .commitSmall)
  }

  private static let row = "select stored_objects.commit_row(\(places(14)))"
  private static let small = "select stored_objects.commit_small(\(places(32)))"

  private static func places(_ count: Int) -> String {
    (1...count).map { "$\($0)" }.joined(separator: ", ")
  }

  private func rowParameters(_ table: Int32) -> [Parameter] {
    let isRemoval = rows.kinds[0] == Int16(Schema.removal)
    return [
      .int4(table), .text(tableNames[0]), .int(rows.rows[0]), .int2(rows.kinds[0]),
      isRemoval ? .bytes(nil) : .bytes(Array(changes.bytes[rows.ranges[0]])),
    ]
  }

  private func tablesOfSmall(_ ids: [Int32]) -> [Parameter] {
    let count = changedTableCount
    return [
      .int4s(Array(ids[..<count])), .int2s(Array(tableKinds[..<count])),
      .texts(Array(tableNames[..<count])),
      hasMetadata ? array(Array(metadata[..<count])) : .noBytesArray,
    ]
  }

  /// Returns the numbers of the ordered tables that the commit changes or is based on.
  private func orderedTables(_ ids: [Int32]) -> [Int32] {
    zip(tableKinds, ids).filter { $0.0 != Schema.TableKind.records.rawValue }.map(\.1)
  }

  private func basisOfSmall(_ ids: [Int32]) -> [Parameter] {
    [
      .int4s(basisRows.tables.map { ids[Int($0) - 1] }), .ints(basisRows.rows),
      .int4s(orderedTables(ids)), array(basisKeys.keys),
      .int4s(ranges.map { ids[Int($0.table) - 1] }), array(ranges.map(\.range.from)),
      array(ranges.map(\.range.to)),
    ]
  }

  private func rowsOfSmall() -> [Parameter] {
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

  private func keysOfSmall() -> [Parameter] {
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
