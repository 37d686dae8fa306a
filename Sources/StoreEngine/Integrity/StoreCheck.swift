/// What a check has looked at, and what it has found.
///
///     let check = try store.check()
///     for finding in check.findings { print(finding) }
public struct StoreCheck: Sendable {
  /// At most so many findings are kept; the rest is counted.
  public static let findingLimit = 10_000

  /// What is wrong, in the order in which it was found.
  public private(set) var findings: [StoreFinding] = []
  /// How many more findings there were than ``findings`` holds.
  public private(set) var omittedCount = 0
  /// What was read of each class, in order of the names.
  public internal(set) var classes: [CheckedClass] = []
  /// The bytes at the end of the log that the opening has left out, because a crash had cut off the
  /// save there; nil when there were none.
  ///
  /// No finding: such a save was never acknowledged. But what a crash leaves, and damage to the
  /// very last save before it, look alike.
  public internal(set) var tornTailByteCount: Int?
  /// The number of named buffers that were read.
  public internal(set) var namedBufferCount = 0

  /// The ordered tables that were read, in the order of their names: key-value tables, indexes, and
  /// what else there is.
  public internal(set) var orderedTables: [CheckedTable] = []

  /// The values outside of records that were read.
  public internal(set) var externalValues = CheckedValues()

  /// An ordered table that was read.
  public struct CheckedTable: Sendable, Hashable {
    /// The name.
    public let name: OrderedTableName
    /// The number of its keys.
    public let keyCount: Int
  }

  /// A class that was read.
  public struct CheckedClass: Sendable, Hashable {
    /// The stored name.
    public let name: String
    /// The number of objects found, without the metadata row.
    public internal(set) var objectCount: Int
    /// Whether each record was compared with a checksum.
    public internal(set) var hasChecksums: Bool
  }

  /// Makes the report of a check that has not begun.
  package init(findings: [StoreFinding] = []) {
    for finding in findings { add(finding) }
  }

  /// Whether nothing is wrong.
  public var isSound: Bool { findings.isEmpty }

  /// Adds what was found.
  package mutating func add(_ finding: StoreFinding) {
    if findings.count < Self.findingLimit { findings.append(finding) } else { omittedCount += 1 }
  }

  /// The same report, with other findings in the place of each.
  func mapFindings(_ body: (StoreFinding) -> StoreFinding) -> StoreCheck {
    var check = self
    check.findings = findings.map(body)
    return check
  }

  package mutating func add(
    _ kind: StoreFinding.Kind, _ message: String, at location: StoreError.Location
  ) {
    add(StoreFinding(kind, message, at: location))
  }
}

/// How far a long operation has come.
public struct IntegrityProgress: Sendable, Hashable {
  /// What is being worked on: the name of a class or a file.
  public let subject: String
  /// How much of it is done.
  public let completed: Int
  /// How much there is to do; 0 when that is not known.
  public let total: Int

  /// Describes how far something has come.
  package init(_ subject: String, _ completed: Int, of total: Int) {
    self.subject = subject
    self.completed = completed
    self.total = total
  }
}

/// What a look at the files says before any record is read.
///
/// See ``StoreBackend/inspect()``.
public struct StoreInspection: Sendable {
  /// The tables that can be read.
  public var tableNames: [String]
  /// Whether the named buffers can be read.
  public var hasReadableBuffers: Bool
  /// What is wrong with files.
  public var findings: [StoreFinding]
  /// The bytes of a save that a crash had cut off, see ``LoggedBackend/tornTailByteCount``.
  public var tornTailByteCount: Int?

  /// Describes what a look at the files says.
  public init(
    tableNames: [String], hasReadableBuffers: Bool = true, findings: [StoreFinding] = []
  ) {
    self.tableNames = tableNames
    self.hasReadableBuffers = hasReadableBuffers
    self.findings = findings
  }
}

extension StoreBackend {
  /// The tables that have records; a backend that has no files of its own finds nothing in them.
  public func inspect() throws(StoreError) -> StoreInspection {
    StoreInspection(tableNames: try tableNames())
  }
}

extension RecordFiles {
  /// The tables that have records, without a look at the files' structure.
  public func inspect() throws(StoreError) -> StoreInspection {
    StoreInspection(tableNames: try tableNames())
  }

  /// Files of a format that leaves no gaps have none to close.
  public func prepareCompaction(
    mark: FileMark, durability: Durability, progress: (IntegrityProgress) -> Void
  ) throws(StoreError) -> Compaction { Compaction() }
}
