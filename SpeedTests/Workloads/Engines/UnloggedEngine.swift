import CDBBackend
import StoredObjectsCore
import TokyoCabinetBackend

/// The class files of an engine without its commit log: the minimum cost of a large save.
///
/// A save rewrites the files and renames them, one after another. A crash between two renames
/// leaves half of it, which the log prevents.
struct UnloggedEngine: Engine {
  let name: String
  let title: String
  let outlivesProcess = true
  let isChosenByNameOnly = true
  private let make: @Sendable (String, Durability) throws -> any StoreBackend

  static let tokyoCabinet = UnloggedEngine(
    name: "tokyo-cabinet-unlogged", title: "The same without a log"
  ) { directory, durability in
    UnloggedBackend(try TokyoCabinetFiles(directory: directory), durability)
  }

  static let cdb = UnloggedEngine(
    name: "cdb-unlogged", title: "The same without a log"
  ) { directory, durability in
    UnloggedBackend(try CDBFiles(directory: directory), durability)
  }

  private init(
    name: String, title: String,
    make: @escaping @Sendable (String, Durability) throws -> any StoreBackend
  ) {
    (self.name, self.title, self.make) = (name, title, make)
  }

  func open(_ directory: String, _ durability: Durability) throws -> any StoreBackend {
    try make(directory, durability)
  }
}

/// A backend of class files that every commit rewrites.
private final class UnloggedBackend<Format: ClassFileFormat>: StoreBackend {
  let coordinator = StoreCoordinator()
  private let files: ClassFiles<Format>
  private let durability: Durability

  init(_ files: ClassFiles<Format>, _ durability: Durability) {
    (self.files, self.durability) = (files, durability)
  }

  func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    try coordinator.perform(
      changes, request, at: location, names: (files.name, { "\($0.index)" })
    ) { (_) throws(StoreError) in
      let mark = FileMark(epoch: 1, number: 1)
      try files.publish(try files.prepare(changes, mark: mark, durability: durability))
      if durability != .none { try files.synchronizeNames() }
    }
  }

  // The workloads for these engines have no indexes.
  func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    throw Self.unordered
  }
  func orderedTableNames() throws(StoreError) -> [OrderedTableName] { [] }
  func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    throw Self.unordered
  }
  func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? { throw Self.unordered }
  func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool { throw Self.unordered }
  private static var unordered: StoreError { StoreError(.ioError, "No ordered tables here.") }

  var location: String { files.location }
  var isReadOnly: Bool { files.isReadOnly }
  func table(named name: String) throws(StoreError) -> TableID { try files.table(named: name) }
  func tableNames() throws(StoreError) -> [String] { try files.tableNames() }
  func recordCount(in table: TableID) throws(StoreError) -> Int { try files.recordCount(in: table) }
  func bufferNames() throws(StoreError) -> [String] { try files.bufferNames() }
  func close() throws(StoreError) { files.close() }

  func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? { try files.withRecord(rowID, in: table, body) }

  func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? { try files.withNamedBuffer(name, body) }

  func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd { try files.scan(table, from: position, body) }
}
