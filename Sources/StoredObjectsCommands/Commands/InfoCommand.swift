import ArgumentParser
import StoredObjectsCore

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show the classes of a store, its indexes, key-value tables, sizes, and its log.")

  @OptionGroup var store: StoreArgument
  @OptionGroup var output: OutputOptions

  func run() throws {
    let backend = try store.openForReading()
    let info = try StoreInfo(backend)
    try backend.close()
    try output.write(info) { info.lines }
    if info.hasDamage { throw ExitCode(1) }
  }
}

/// The report of `info`.
struct StoreInfo: Encodable {
  var path: String
  var classes: [ClassInfo]
  var namedBuffers: BufferInfo
  var orderedTables: [OrderedTableInfo]
  /// The values outside of records; absent if there are none.
  var externalValues: ValueInfo?
  var log: LogInfo?
  /// The number of the last commit.
  var lastCommit: UInt64

  var hasDamage: Bool {
    classes.contains { $0.damage != nil } || orderedTables.contains { $0.condition == .damaged }
  }

  struct ClassInfo: Encodable {
    var name: String
    var classID: UInt8?
    var version: UInt8?
    var objects: Int
    var nextRowID: UInt64?
    var fileBytes: Int
    var hasChecksums: Bool
    var hasVersions: Bool?
    /// The reason why the metadata row can't be read.
    var damage: String?
  }

  struct BufferInfo: Encodable {
    var count: Int
    var fileBytes: Int
  }

  struct ValueInfo: Encodable {
    var count: Int
    var fileBytes: Int
  }

  struct LogInfo: Encodable {
    var fileBytes: Int
    var batches: Int
    var pendingBatches: Int
    var pendingBytes: Int
    /// The number of bytes of a save that a crash has cut off; absent if the log ends with a
    /// complete save.
    var tornTailBytes: Int?
  }

  init(_ backend: any DirectoryBackend) throws {
    path = backend.location
    lastCommit = backend.lastCommitNumber
    classes = try backend.tableNames().map { try ClassInfo($0, backend) }
      .sorted { ($0.classID ?? .max, $0.name) < ($1.classID ?? .max, $1.name) }
    namedBuffers = BufferInfo(
      count: try RecordDump.bufferNames(backend).count,
      fileBytes: try backend.fileSize(of: "NamedBuffers"))
    let holdings = try Holdings(backend)
    orderedTables = try backend.orderedTableStates().map { OrderedTableInfo($0, holdings) }
    if let values = try backend.externalStorage?.list(), !values.isEmpty {
      externalValues = ValueInfo(
        count: values.count, fileBytes: values.reduce(0) { $0 + $1.storedByteCount })
    }
    log = try backend.logState().map {
      LogInfo(
        fileBytes: $0.fileSize, batches: $0.batchCount, pendingBatches: $0.pendingBatchCount,
        pendingBytes: $0.pendingCount, tornTailBytes: $0.tornTailByteCount)
    }
  }
}

extension StoreInfo.ClassInfo {
  init(_ name: String, _ backend: any StoreBackend) throws {
    self.name = name
    let table = try backend.table(named: name)
    let count = try backend.recordCount(in: table)
    fileBytes = try (backend as? any DirectoryBackend)?.fileSize(of: name) ?? 0
    hasChecksums = false
    objects = count
    let row = try backend.withRecord(1, in: table) { bytesOf($0) }
    guard let row else {
      damage = "The metadata row is missing: salvage the store."
      return
    }
    objects = count - 1
    do {
      var buffer = DataBuffer(row)
      let metadata = try ClassMetadata(from: &buffer)
      (classID, version) = (metadata.classID, metadata.classVersion)
      nextRowID = UInt64(metadata.lastRowID) + 1
      hasChecksums = metadata.flags?.contains(.checksums) ?? false
      hasVersions = metadata.flags.map { !$0.contains(.unversionedRecords) }
    } catch {
      damage = "The metadata row is damaged, \(error): salvage the store."
    }
  }
}

extension StoreInfo {
  /// The report as text.
  var lines: [String] {
    var lines = [path]
    lines += classes.map(\.line)
    lines.append(
      "\(counted(namedBuffers.count, "named buffer", "named buffers")), "
        + bytesText(namedBuffers.fileBytes))
    lines += orderedTables.map(\.line)
    if let values = externalValues {
      lines.append(
        "\(counted(values.count, "external value", "external values")), "
          + bytesText(values.fileBytes))
    }
    lines.append("last commit: \(lastCommit)")
    if let log {
      lines.append(
        "log: \(bytesText(log.pendingBytes)) pending in \(counted(log.pendingBatches, "save", "saves")),"
          + " file of \(bytesText(log.fileBytes))")
      if let torn = log.tornTailBytes { lines.append(tornTailText(torn)) }
    } else {
      lines.append("no log")
    }
    return lines
  }
}

extension StoreInfo.ClassInfo {
  fileprivate var line: String {
    let number = classID.map { "\($0)" } ?? "?"
    let size = "\(counted(objects, "object", "objects")), \(bytesText(fileBytes))"
    if let damage { return "\(number)  \(name): \(size). \(damage)" }
    let next = nextRowID.map { "\($0)" } ?? "?"
    let checksums = hasChecksums ? "checksums" : "no checksums"
    return "\(number)  \(name): version \(version ?? 0), \(size), next row \(next), \(checksums)"
  }
}
