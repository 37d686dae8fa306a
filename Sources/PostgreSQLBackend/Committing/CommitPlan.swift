import Files
import StoreEngine

/// The statements of a commit, and the new rows that are copied after them in binary form.
///
/// A copy writes many rows in less time than arrays do, but only new ones, and it takes round trips
/// of its own. The function of the server has made sure that the rows are new, and holds the lock
/// of the store.
struct CommitPlan: Sendable {
  /// A row that is copied, and the place of its table in the commit, from 1.
  struct Row: Sendable {
    let table: Int32
    let row: Int64
    let range: Range<Int>
  }

  /// The number of new rows from which on they are copied.
  static let copiedRowCount = 4096
  /// The number of bytes that are sent at a time.
  private static let partByteCount = 256 << 10

  /// Returns the numbers of the tables of a commit, in order.
  static let tableNumbers = """
    select t.id from unnest($2, $3) with ordinality n(kind, name, place)
      join stored_objects.tables t on t.store = $1 and t.kind = n.kind and t.name = n.name
    order by n.place
    """

  /// The call of the function, and further pieces.
  let statements: [Statement]
  var rows: [Row] = []
  /// The bytes of the rows.
  var bytes: [UInt8] = []
  /// Asks for the numbers of the tables.
  var tables: Statement?

  /// Executes the commit, and asks for the commits of others.
  ///
  /// - Returns: The answers of the function and of the last statement, and maybe others in between.
  func run(on connection: Connection, _ news: Statement) throws(ServerFailure) -> [QueryResult] {
    guard let tables else { return try connection.run(statements + [news]) }
    do throws(ServerFailure) {
      let results = try connection.run([Statement("begin")] + statements + [tables])
      guard try results[1].number(0, 0) == Schema.Outcome.committed.rawValue else {
        connection.runWithoutWaiting(Statement("rollback"))
        return [results[1]] + (try connection.run([news]))
      }
      let numbers = try Self.numbers(results[results.count - 1])
      guard rows.allSatisfy({ numbers.indices.contains(Int($0.table) - 1) }) else {
        throw .unexpectedAnswer
      }
      try copyRows(to: connection, commit: try results[1].number(0, 1), numbers)
      return [results[1]] + (try connection.run([Statement("commit"), news]))
    } catch {
      connection.runWithoutWaiting(Statement("rollback"))
      throw error
    }
  }

  private static func numbers(_ result: QueryResult) throws(ServerFailure) -> [Int32] {
    try (0..<result.rowCount).map { (row) throws(ServerFailure) in
      Int32(clamping: try result.number(row, 0))
    }
  }

  private func copyRows(
    to connection: Connection, commit: Int64, _ numbers: [Int32]
  ) throws(ServerFailure) {
    var rest = rows[...]
    var isLast = false
    try connection.copy(
      "copy stored_objects.records (table_id, row, commit, data) from stdin (format binary)"
    ) {
      if isLast { return nil }
      var part = rest.count == rows.count ? Self.header : []
      part.reserveCapacity(Self.partByteCount + Self.partByteCount / 8)
      while let row = rest.first, part.count < Self.partByteCount {
        append(row, commit: commit, numbers, to: &part)
        rest.removeFirst()
      }
      isLast = rest.isEmpty
      if isLast { part.append(bigEndian: Int16(-1)) }
      return part
    }
  }

  /// A signature, flags, and the size of an extension, of which there is none.
  private static let header =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)

  /// Appends the number of fields, and each field after its size.
  private func append(_ row: Row, commit: Int64, _ numbers: [Int32], to part: inout [UInt8]) {
    part.append(bigEndian: Int16(4))
    part.append(bigEndian: Int32(4))
    part.append(bigEndian: numbers[Int(row.table) - 1])
    part.append(bigEndian: Int32(8))
    part.append(bigEndian: row.row)
    part.append(bigEndian: Int32(8))
    part.append(bigEndian: commit)
    part.append(bigEndian: Int32(row.range.count))
    part += bytes[row.range]
  }
}
