import Files
import Locks

extension LoggedBackend {
  /// Returns the number of an ordered table.
  ///
  /// Complexity: constant time on average.
  ///
  /// - Throws: ``StoreError`` with `invalidName`, `reopenNeeded` or `closed`.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try checkOpen()
    return try naming { () throws(StoreError) in try files.ordered.table(sealedName(name)) }
  }

  /// Returns the names of the ordered tables that have keys, or whose keys can't be counted.
  ///
  /// Complexity: linear in the number of ordered tables; it opens the files that are not open.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `reopenNeeded` or `closed`.
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

  /// Returns the names of all ordered tables that have or should have a file, or have pending keys.
  func knownOrderedNames() throws(StoreError) -> [OrderedTableName] {
    var names = Set(try files.ordered.names()).union(files.ordered.lostNames())
    for table in state.withLock({ $0.orderedTables }) {
      names.insert(try files.ordered.name(of: table))
    }
    return names.compactMap { openedName($0) }
  }

  /// Returns the number of keys in a range.
  ///
  /// Complexity: O(log n) for a file of n keys, and O(log² m) for m changes that are not in it yet.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try naming { () throws(StoreError) in try view(of: table).count(in: range) }
  }

  /// Calls a closure with the value of a key, from the pending changes or the file.
  ///
  /// Complexity: as ``keyCount(in:_:)``, and linear in the size of the key. In an encrypted store,
  /// also linear in the size of the value, which is opened.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`, or an error of the closure.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let view = try view(of: table)
    return try naming { () throws(StoreError) in
      try key.lend { (key) throws(StoreError) in try view.withValue(key, body) }
    }
  }

  /// Copies the value of a key; implemented separately, without a closure.
  ///
  /// Complexity: as ``withValue(of:in:_:)``, and linear in the size of the value.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`.
  public func copyValue(
    of key: [UInt8], in table: OrderedTableID, to bytes: inout [UInt8]
  ) throws(StoreError) -> Bool {
    let view = try view(of: table)
    return try key.lend { (key) throws(StoreError) in try view.copyValue(of: key, to: &bytes) }
  }

  /// Calls a closure with keys and values, as they were at the beginning of the call.
  ///
  /// Complexity: as ``keyCount(in:_:)``, and linear in the size of the keys and values that are
  /// visited.
  ///
  /// - Throws: ``StoreError`` with `ioError`, `damaged`, `notAuthentic`, `reopenNeeded` or
  ///   `closed`, or an error of the closure.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try naming { () throws(StoreError) in
      try view(of: table).scan(range, isReversed: isReversed, body)
    }
  }

  /// Returns the table in its present state.
  package func view(of table: OrderedTableID) throws(StoreError) -> OrderedView {
    try refresh()
    while true {
      let view = try state.withLock { (state) throws(StoreError) -> OrderedView? in
        try check(state)
        guard let (file, generation) = try files.ordered.knownFile(of: table) else { return nil }
        guard let pending = state.keys(of: table), pending.fileGeneration == generation
        else { return OrderedView(base: file.opened) }
        return pending.view(over: file.opened)
      }
      if let view { return view }
      // Opens the file without the lock, so that readers of other tables don't wait.
      _ = try files.ordered.file(of: table)
    }
  }
}

extension LoggedBackend: OrderedViewing {}
