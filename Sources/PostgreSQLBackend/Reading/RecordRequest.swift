import StoreEngine

/// A statement that reads some records of a table.
///
/// The elements of a list mostly have consecutive rows, because they were inserted one after the
/// other. The server reads an interval of rows in a fifth of the time that it takes to look for each
/// of them. So a few unwanted rows cost less than a list of the wanted ones.
struct RecordRequest {
  let statement: Statement
  /// The wanted rows, in the order in which they are wanted.
  private let rows: ArraySlice<UInt32>
  /// The interval that is read; nil if the statement names the rows.
  private let interval: ClosedRange<UInt32>?

  /// The number of rows below which an interval gains nothing.
  private static let leastCount = 4
  /// The maximum size of a record that is read ahead.
  private static let aheadByteCount: Int32 = 64 << 10

  /// Prepares a statement for rows of the table with a key.
  ///
  /// If all rows but the first one are only read ahead, the server leaves out large records.
  init(_ rows: ArraySlice<UInt32>, _ key: [Parameter], readsAhead: Bool = false) {
    self.rows = rows
    interval = Self.denseInterval(rows)
    let limit = Parameter.int4(readsAhead ? Self.aheadByteCount : .max)
    guard let interval else {
      let numbers = Parameter.ints(rows.map { Int64($0) })
      statement = Statement(Self.byRows, key + [numbers, limit], name: .records)
      return
    }
    let bounds = [interval.lowerBound, interval.upperBound, rows.first ?? 0].map {
      Parameter.int(Int($0))
    }
    statement = Statement(Self.byInterval, key + bounds + [limit], name: .recordsBetween)
  }

  /// Returns the interval of rows of which at least four fifths are wanted.
  private static func denseInterval(_ rows: ArraySlice<UInt32>) -> ClosedRange<UInt32>? {
    guard rows.count >= leastCount, let first = rows.min(), let last = rows.max() else {
      return nil
    }
    return Int(last - first) < rows.count + rows.count / 4 ? first...last : nil
  }

  private static let byRows = """
    select r.row, r.data from unnest($4) with ordinality n(row, place)
      join stored_objects.records r
        on r.table_id = \(PostgreSQLBackend.tableID) and r.row = n.row
    where n.place = 1 or octet_length(r.data) <= $5
    order by n.place
    """

  private static let byInterval = """
    select row, data from stored_objects.records
    where table_id = \(PostgreSQLBackend.tableID) and row between $4 and $5
      and (row = $6 or octet_length(data) <= $7)
    """

  /// Returns the row IDs of the wanted records in an answer and their places in it, in the order in
  /// which they are wanted.
  func places(
    in answer: QueryResult
  ) throws(ServerFailure) -> [(rowID: UInt32, place: Int)] {
    var found: [(rowID: UInt32, place: Int)] = []
    found.reserveCapacity(answer.rowCount)
    guard let interval else {
      for place in 0..<answer.rowCount { found.append((try Self.row(answer, place), place)) }
      return found
    }
    var places = [Int?](repeating: nil, count: interval.count)
    for place in 0..<answer.rowCount {
      let row = try Self.row(answer, place)
      guard interval.contains(row) else { throw ServerFailure.unexpectedAnswer }
      places[Int(row - interval.lowerBound)] = place
    }
    for row in rows {
      if let place = places[Int(row - interval.lowerBound)] { found.append((row, place)) }
    }
    return found
  }

  private static func row(_ answer: QueryResult, _ place: Int) throws(ServerFailure) -> UInt32 {
    UInt32(clamping: try answer.number(place, 0))
  }
}
