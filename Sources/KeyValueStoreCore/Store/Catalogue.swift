import Files
import StoreEngine

/// The tables by name, and the ordered tables of the backend that hold them.
///
/// Files are named by numbers, so that a table may have any name.
struct Catalogue: Sendable {
  /// The list of tables: names and their numbers.
  static let list = OrderedTableName("KeyValueTables", kind: .data)

  /// Returns the name of the ordered table with the items of a table.
  static func items(_ number: UInt32) -> OrderedTableName {
    OrderedTableName("KeyValueItems-\(number)", kind: .data)
  }

  /// Returns the name of the ordered table with the expiry times of a table's items.
  static func expiry(_ number: UInt32) -> OrderedTableName {
    OrderedTableName("KeyValueExpiry-\(number)", kind: .data)
  }

  private(set) var tables: [ExactName: TableState] = [:]

  /// Creates an empty list.
  init() {}

  /// Reads the list.
  ///
  /// - Throws: `StoreError`, with `damaged` for an invalid list.
  init(_ backend: any StoreBackend, _ news: ServerNews?) throws(StoreError) {
    let list = try backend.orderedTable(Self.list)
    let isListed = Self.isListed(in: list, of: backend, news)
    var entries: [(name: String, number: UInt32)] = []
    _ = try backend.scanKeys(of: list, KeyRange(), isReversed: false) {
      (key, value) throws(StoreError) in
      guard let name = String(checking: key), let number = Self.number(value, name) else {
        throw StoreError(.damaged, "The list of tables is damaged.")
      }
      entries.append((name, number))
      return .next
    }
    for (name, number) in entries {
      add(
        try TableState(name: name, number: number, backend: backend, isListed: isListed))
    }
  }

  /// Returns a check of whether a table is in the list; nil if no other process changes the list.
  static func isListed(
    in list: OrderedTableID, of backend: any StoreBackend, _ news: ServerNews?
  ) -> (@Sendable (TableState) -> Bool)? {
    guard news != nil || backend.coordinator.isShared else { return nil }
    return { table in
      // On a server, the commits of others report dropped tables, unless commits were missed.
      let lossCount = news?.lossCount
      if let lossCount, table.checkedLossCount == lossCount { return true }
      defer { if let lossCount { table.checkedLossCount = lossCount } }
      // If the list can't be read now, the next operation reports it.
      guard let number = try? Self.number(of: table.name, in: list, of: backend) else {
        return (try? backend.keyCount(in: list, KeyRange())) == nil
      }
      return number == table.number
    }
  }

  /// A number that changes with the tables, to detect that a list which was read is outdated.
  private(set) var version = 0
  /// The tables by the ordered tables with their items.
  ///
  /// A dropped table stays until the list is read; another may have its number by then.
  private var owners: [OrderedTableID: TableState] = [:]

  /// Returns the table whose items are in an ordered table.
  func table(ofItems id: OrderedTableID) -> TableState? { owners[id] }

  /// Adds a table, or returns the existing one.
  mutating func adopt(_ new: TableState) -> TableState {
    if let known = tables[ExactName(new.name)], known.number == new.number, !known.isDropped {
      owners[known.items] = known
      return known
    }
    add(new)
    return new
  }

  /// Updates the tables to those of a list.
  mutating func take(_ listed: Catalogue) {
    for (name, known) in tables
    where known.isDropped || listed.tables[name]?.number != known.number {
      known.drop()
      remove(known)
    }
    for (name, new) in listed.tables where tables[name] == nil { add(new) }
  }

  private mutating func add(_ table: TableState) {
    version += 1
    tables[ExactName(table.name)] = table
    owners[table.items] = table
    usedNumbers.insert(table.number)
    while usedNumbers.contains(freeNumber) { freeNumber += 1 }
  }

  mutating func remove(_ table: TableState) {
    // Another table of the same name may have been read from the list meanwhile.
    guard tables[ExactName(table.name)] === table else { return }
    version += 1
    tables[ExactName(table.name)] = nil
    // Commits of others may have added a table with the same number since.
    let heir = tables.values.first { $0.number == table.number }
    if owners[table.items] === table { owners[table.items] = heir }
    if heir != nil { return }
    usedNumbers.remove(table.number)
    freeNumber = min(freeNumber, table.number)
  }

  /// The lowest unused number.
  private(set) var freeNumber: UInt32 = 1
  private var usedNumbers: Set<UInt32> = []

  /// Returns the entry of a table in the list: its number, and a checksum of number and name.
  static func entry(_ number: UInt32, _ name: String) -> [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(littleEndian: number)
    let checksum = name.lendUTF8 { name in bytes.lend { ItemChecksum.value(number, name, $0) } }
    bytes.append(littleEndian: checksum)
    return bytes
  }

  /// Returns the number of a name in the list, or nil if the list does not have it.
  static func number(
    of name: String, in list: OrderedTableID, of backend: any StoreBackend
  ) throws(StoreError) -> UInt32? {
    try backend.withValue(of: Array(name.utf8), in: list) { number($0, name) } ?? nil
  }

  static func number(_ entry: RawSpan, _ name: String) -> UInt32? {
    guard entry.byteCount == 9 else { return nil }
    let number = entry.loadUInt32(at: 1, isBigEndian: false)
    return [UInt8](copying: entry) == Self.entry(number, name) ? number : nil
  }
}
