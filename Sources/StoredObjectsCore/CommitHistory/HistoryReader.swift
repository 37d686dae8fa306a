import Files
package import StoreEngine

/// A reader of a store's history that uses the saved layouts of its classes, without the program.
package struct HistoryReader {
  /// Returns the values of a record with properties of custom types, from its class and row; nil
  /// if they are not known.
  package typealias ReadingOfCustomTypes =
    (_ className: String, _ rowID: UInt32, _ record: [UInt8]) -> StoredValue.Fields?

  private let backend: any StoreBackend
  private let customValues: ReadingOfCustomTypes
  private let classes: [String: RecordClass]
  private let references: HistoryReferences

  /// Creates a reader for the classes of a store.
  ///
  /// - Parameters:
  ///   - backend: The store.
  ///   - customValues: Reads the records of classes with properties of custom types.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package init(
    _ backend: any StoreBackend,
    customValues: @escaping ReadingOfCustomTypes = { _, _, _ in nil }
  ) throws(StoreError) {
    self.init(backend, try RecordClass.all(in: backend), customValues)
  }

  /// Creates a reader for the classes of a store, some of which a program has registered.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  init(_ backend: any StoreBackend, registered: [RegisteredClass]) throws(StoreError) {
    var all = try RecordClass.all(in: backend)
    for entry in registered {
      guard let index = all.firstIndex(where: { $0.name == entry.name }),
        let coding = entry.coding, coding.hasOpaqueValues
      else { continue }
      all[index].declaredCodings[entry.layouts.number] = coding
    }
    self.init(backend, all) { _, _, _ in nil }
  }

  private init(
    _ backend: any StoreBackend, _ all: [RecordClass],
    _ customValues: @escaping ReadingOfCustomTypes
  ) {
    (self.backend, self.customValues) = (backend, customValues)
    classes = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    references = HistoryReferences(
      names: ClassNames(all.lazy.map { ($0.name, $0.metadata.classID) }))
  }

  /// Calls a closure with the commits after a number, except those that have changed no object of
  /// the requested classes.
  ///
  /// - Parameters:
  ///   - number: The last commit to skip; nil for the one before the history.
  ///   - names: The requested classes; nil for all.
  ///   - isWanted: Whether a commit is requested.
  ///   - body: Called with each commit; returns whether to continue.
  /// - Throws: ``/StoreEngine/StoreError`` with `historyExpired`, `damaged`, `ioError` or `closed`,
  ///   or an error of the closure.
  package func forEachCommit(
    after number: UInt64?, of names: Set<String>? = nil,
    where isWanted: (Commit) -> Bool = { _ in true },
    _ body: (HistoryCommit) throws -> ScanStep
  ) throws {
    let start = try number ?? backend.historyStart() ?? 0
    try backend.forEachHistoryEntry(after: start) { entry in
      guard isWanted(entry.commit) else { return .next }
      var changes: [HistoryChange] = []
      for table in entry.tables where names?.contains(table.name) ?? true {
        for record in table.objects { changes.append(try change(record, table.name)) }
      }
      return changes.isEmpty
        ? .next : try body(HistoryCommit(commit: entry.commit, changes: changes))
    }
  }

  /// Returns the objects that differ between two commits, each once.
  ///
  /// - Parameters:
  ///   - old: The commit with the old values.
  ///   - new: The commit with the new values; it may be the earlier of the two.
  ///   - names: The requested classes; nil for all.
  /// - Returns: The objects by class and row.
  /// - Throws: ``/StoreEngine/StoreError`` with `historyExpired`, `invalidArgument`, `damaged`,
  ///   `ioError` or `closed`.
  package func differences(
    from old: UInt64, to new: UInt64, of names: Set<String>? = nil
  ) throws -> [HistoryChange] {
    try backend.checkState(isKnownAt: max(old, new))
    var found: [String: [UInt32: HistoryEntry.RecordChange]] = [:]
    try backend.forEachHistoryEntry(after: min(old, new)) { entry in
      if entry.commit.number > max(old, new) { return .pause }
      for table in entry.tables where names?.contains(table.name) ?? true {
        for record in table.objects {
          let first = found[table.name]?[record.rowID] ?? record
          found[table.name, default: [:]][record.rowID] =
            .init(rowID: record.rowID, before: first.before, after: record.after)
        }
      }
      return .next
    }
    return try found.sorted { $0.key < $1.key }.flatMap { name, records in
      try records.values.sorted { $0.rowID < $1.rowID }.filter { $0.before != $0.after }
        .map { try change(old <= new ? $0 : $0.reversed, name) }
    }
  }

  private func change(
    _ record: HistoryEntry.RecordChange, _ className: String
  ) throws -> HistoryChange {
    HistoryChange(
      id: ObjectID(className: className, rowID: record.rowID),
      old: try record.before.map { try value(record.rowID, $0, className) },
      new: try record.after.map { try value(record.rowID, $0, className) })
  }

  private func value(
    _ rowID: UInt32, _ record: [UInt8], _ className: String
  ) throws -> ObjectValue {
    guard let known = classes[className] else {
      // The class was removed, and with it the meaning of its records.
      var value = ObjectValue(className: className, rowID: rowID)
      if case .string(let text) = StoredValue.base64(record) { value.bytes = text }
      return value
    }
    do {
      var value = try known.value(rowID, record, references)
      if value.bytes != nil, let values = customValues(className, rowID, record) {
        (value.values, value.bytes) = (values, nil)
      }
      return value
    } catch {
      throw StoreError.wrapping(
        error, .damaged,
        at: .init(path: backend.location, className: className, rowID: rowID))
    }
  }
}

/// References as strings; a value outside of records is represented by its identifier.
private struct HistoryReferences: ReferenceReading {
  let names: ClassNames

  func value(of className: String, row: UInt32) -> StoredValue { .string("\(className)/\(row)") }
  func className(of classID: UInt8) -> String? { names.name(of: classID) }
  func text(of external: ExternalReference) -> String { "\(external.id)" }
}

extension HistoryEntry.RecordChange {
  /// The change that undoes this one.
  fileprivate var reversed: Self { .init(rowID: rowID, before: after, after: before) }
}
