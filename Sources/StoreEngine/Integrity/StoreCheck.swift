/// The result of a check.
///
///     let check = try store.check()
///     for finding in check.findings { print(finding) }
public struct StoreCheck: Sendable {
  /// The maximum number of findings in ``findings``; further ones are only counted.
  public static let findingLimit = 10_000

  /// The findings, in the order in which they were found.
  public private(set) var findings: [StoreFinding] = []
  /// The number of findings beyond those in ``findings``.
  public private(set) var omittedCount = 0
  /// The classes that were read, in order of their names.
  public internal(set) var classes: [CheckedClass] = []
  /// The number of bytes of a torn save at the end of the log, or nil.
  ///
  /// A crash has cut off the save, and the opening has left it out. That is not a finding: such a
  /// save was never acknowledged. But damage to the very last save looks the same.
  public internal(set) var tornTailByteCount: Int?
  /// The number of named buffers that were read.
  public internal(set) var namedBufferCount = 0

  /// The ordered tables that were read, in order of their names.
  ///
  /// They include key-value tables and indexes.
  public internal(set) var orderedTables: [CheckedTable] = []

  /// The external values that were read.
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

  /// Creates the report of a check that has not begun.
  package init(findings: [StoreFinding] = []) {
    for finding in findings { add(finding) }
  }

  /// Whether there are no findings.
  public var isSound: Bool { findings.isEmpty }

  /// Adds a finding.
  package mutating func add(_ finding: StoreFinding) {
    if findings.count < Self.findingLimit { findings.append(finding) } else { omittedCount += 1 }
  }

  /// Returns the same report with each finding replaced.
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

/// The progress of a long operation.
public struct IntegrityProgress: Sendable, Hashable {
  /// The name of the class or file in progress.
  public let subject: String
  /// The amount of work that is done.
  public let completed: Int
  /// The amount of work; 0 if it is unknown.
  public let total: Int

  /// Creates a progress.
  package init(_ subject: String, _ completed: Int, of total: Int) {
    self.subject = subject
    self.completed = completed
    self.total = total
  }
}

/// The state of the files, before any record is read.
///
/// See ``StoreBackend/inspect()``.
public struct StoreInspection: Sendable {
  /// The tables that can be read.
  public var tableNames: [String]
  /// Whether the named buffers can be read.
  public var hasReadableBuffers: Bool
  /// The findings about files.
  public var findings: [StoreFinding]
  /// The number of bytes of a torn save, see ``LoggedBackend/tornTailByteCount``.
  public var tornTailByteCount: Int?

  /// Creates an inspection.
  public init(
    tableNames: [String], hasReadableBuffers: Bool = true, findings: [StoreFinding] = []
  ) {
    self.tableNames = tableNames
    self.hasReadableBuffers = hasReadableBuffers
    self.findings = findings
  }
}

extension StoreBackend {
  /// Returns the tables that have records, for backends without files of their own.
  ///
  /// Complexity: as ``RecordSource/tableNames()``.
  ///
  /// - Throws: ``StoreError``, as ``RecordSource/tableNames()``.
  public func inspect() throws(StoreError) -> StoreInspection {
    StoreInspection(tableNames: try tableNames())
  }
}
