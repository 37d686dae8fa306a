import Files
import Locks

extension LoggedBackend {
  /// The number of an ordered table.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try checkOpen()
    return try naming { () throws(StoreError) in try files.ordered.table(sealedName(name)) }
  }

  /// The names of the ordered tables that have keys, and of those whose keys can't be counted.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    try checkOpen()
    try refresh()
    var names: [OrderedTableName] = []
    for name in try knownOrderedNames() where try hasKeys(name) { names.append(name) }
    return names
  }

  private func hasKeys(_ name: OrderedTableName) throws(StoreError) -> Bool {
    do {
      return try keyCount(in: orderedTable(name), KeyRange()) > 0
    } catch  where error.code == .damaged || error.code == .notAuthentic {
      return true
    }
  }

  /// The names of all ordered tables that have a file or pending keys, or should have a file.
  func knownOrderedNames() throws(StoreError) -> [OrderedTableName] {
    var names = Set(try files.ordered.names()).union(files.ordered.lostNames())
    for table in state.withLock({ $0.orderedTables }) {
      names.insert(try files.ordered.name(of: table))
    }
    return names.compactMap { openedName($0) }
  }

  /// The number of keys in a range.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try naming { () throws(StoreError) in try view(of: table).count(in: range) }
  }

  /// Lends the value of a key: what is pending of it, or what the file has.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let view = try view(of: table)
    return try naming { () throws(StoreError) in
      try key.lend { (key) throws(StoreError) in try view.withValue(key, body) }
    }
  }

  /// Copies the value of a key, in code that is made for it alone.
  public func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    let view = try view(of: table)
    return try key.lend { (key) throws(StoreError) in try view.copyValue(of: key, to: &bytes) }
  }

  /// Lends keys and values, as they were when the call began.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try naming { () throws(StoreError) in
      try view(of: table).scan(range, isReversed: isReversed, body)
    }
  }

  /// The table as it is now.
  package func view(of table: OrderedTableID) throws(StoreError) -> OrderedView {
    try refresh()
    while true {
      let view = try state.withLock { (state) throws(StoreError) -> OrderedView? in
        try check(state)
        guard let (file, generation) = try files.ordered.knownFile(of: table) else { return nil }
        guard let pending = state.keys(of: table), pending.fileGeneration == generation
        else { return OrderedView(file: file.opened, runs: KeyRuns()) }
        return pending.view(over: file.opened)
      }
      if let view { return view }
      // Opened without holding up those who look at other tables.
      _ = try files.ordered.file(of: table)
    }
  }
}

extension LoggedBackend: OrderedViewing {}
