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

  /// Returns the statement that executes the commit directly after another one.
  ///
  /// - Returns: nil if the number of a table is not known.
  func next(
    _ commit: Commit, after last: UInt64, _ known: ServerTableIDs
  ) throws(StoreError) -> Statement? {
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
    return Statement(Self.next, parameters, name: .commitNext)
  }

  private static let next: String = {
    let places = (1...24).map { "$\($0)" }.joined(separator: ", ")
    return "select stored_objects.commit_next(\(places))"
  }()

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
