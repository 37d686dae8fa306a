import Files
import StoredObjectsCore
import TokyoCabinet

/// Makes the file that is to take the place of a class file: a copy with the changes, or a new one.
///
/// Nobody else knows the file yet, so it needs no transactions; it is whole once it is closed.
struct FilePreparation {
  /// A file and what is to change in it.
  struct Target {
    let file: TableFile
    let content: Content

    enum Content {
      case records([ChangeSet.RecordChange])
      case names([ChangeSet.NameChange])
    }
  }

  let bytes: [UInt8]
  let target: Target
  /// Where the new file is made.
  let path: String
  let configuration: TokyoCabinetFiles.Configuration
  let testedSizeLimit: UInt64
  let isSynced: Bool

  /// Does it all.
  func run() throws {
    let isCopied = try target.file.copy(to: path)
    try target.file.mappingErrors {
      let database = try isCopied ? openCopy() : makeNew()
      try apply(to: database)
      try database.close()
      // Not before: the library writes the header and the list of free blocks when it closes.
      if isSynced { try syncFile(path) }
    }
  }

  /// Opens a copy, and rebuilds it with 64-bit offsets when the changes could take it past what 32
  /// bits address.
  private func openCopy() throws -> HashDatabase {
    let database = try HashDatabase(path: path, mode: .readWrite([]))
    if testedSizeLimit > 0 { database.testedSizeLimit = testedSizeLimit }
    let options = try database.options
    let growth = try target.growthBound(options, UInt32(database.alignment))
    guard !options.contains(.large), try database.fileSize + growth > database.fileSizeLimit
    else { return database }
    try database.optimize(
      Tuning(
        bucketCount: Int64(database.bucketCount),
        alignmentPower: Int8(database.alignment.trailingZeroBitCount),
        options: options.union(.large)))
    return database
  }

  /// Makes the first file of a table, laid out for the number of records that it gets.
  private func makeNew() throws -> HashDatabase {
    let count = max(configuration.expectedRecordCount ?? 0, target.changeCount)
    var tuning = Tuning(
      bucketCount: Tuning.bucketCount(forExpectedRecords: count),
      alignmentPower: configuration.alignmentPower)
    let limit = testedSizeLimit > 0 ? testedSizeLimit : 4 << (30 + UInt64(tuning.alignmentPower))
    let growth = target.growthBound([], 1 << UInt32(tuning.alignmentPower))
    if growth + UInt64(tuning.bucketCount) * 5 > limit { tuning.options = .large }
    return try HashDatabase(path: path, mode: .readWrite([.create, .truncate]), tuning: tuning)
  }

  // MARK: Changes

  private func apply(to database: HashDatabase) throws {
    switch target.content {
    case .records(let changes):
      for change in changes { try apply(change, to: database) }
    case .names(let changes):
      for change in changes { try apply(change, to: database) }
    }
  }

  private func apply(_ change: ChangeSet.RecordChange, to database: HashDatabase) throws {
    try withKey(of: change.rowID) { key in
      switch change.kind {
      case .insert:
        let isNew = try bytes.lend(change.range) { try database.putIfAbsent(key: key, value: $0) }
        if !isNew { throw target.file.rowExists(change.rowID) }
      case .update:
        try bytes.lend(change.range) { try database.put(key: key, value: $0) }
      case .delete:
        _ = try database.remove(key: key)
      }
    }
  }

  private func apply(_ change: ChangeSet.NameChange, to database: HashDatabase) throws {
    try withKey(ofBuffer: change.name) { key in
      if let range = change.range {
        try bytes.lend(range) { try database.put(key: key, value: $0) }
      } else {
        _ = try database.remove(key: key)
      }
    }
  }
}

extension FilePreparation.Target {
  /// The most that the changes can add to the file.
  func growthBound(_ options: Tuning.Options, _ alignment: UInt32) -> UInt64 {
    switch content {
    case .records(let changes):
      changes.reduce(0) { $0 + HashDatabase.recordBound(4, $1.range.count, options, alignment) }
    case .names(let changes):
      changes.reduce(0) {
        $0 + HashDatabase.recordBound($1.name.utf8.count, $1.range?.count ?? 0, options, alignment)
      }
    }
  }

  /// Whether there is anything to write, and not only to delete.
  var writesAnything: Bool {
    switch content {
    case .records(let changes): changes.contains { $0.kind != .delete }
    case .names(let changes): changes.contains { $0.range != nil }
    }
  }

  var changeCount: Int {
    switch content {
    case .records(let changes): changes.count
    case .names(let changes): changes.count
    }
  }
}

extension TableFile {
  /// Runs calls on the file, and makes their errors those of a store.
  func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    try storeErrors(at: path, className: name, body)
  }

  /// The error of an insert that met a row.
  func rowExists(_ rowID: UInt32) -> StoreError {
    StoreError(
      .rowExists, "the row is there already, and an insert must not overwrite it",
      at: .init(path: path, className: name, rowID: rowID))
  }
}
