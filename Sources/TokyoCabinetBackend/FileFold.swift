import StoredObjectsCore
import TokyoCabinet

/// Folds a change set into the files of a store: one use, under the locks of all files it touches.
///
/// 1. Files that are near their limit are rebuilt without one.
/// 2. Tables without a file get one: filled under another name, brought to the disk, closed.
/// 3. Files that exist are changed, each within a transaction; a transaction belongs to a thread, so
///    all of this runs on one, transaction within transaction.
/// 4. When all of that has succeeded, the new files get their names, the transactions are committed,
///    and the files brought to the disk.
///
/// Up to the first commit of 4 everything can be taken back, and is when an error comes.
struct FileFold {
  /// A file and what is to change in it.
  struct Target {
    let file: TableFile
    let content: Content

    enum Content {
      case records([ChangeSet.RecordChange])
      case names([ChangeSet.NameChange])
    }
  }

  private let bytes: [UInt8]
  private let targets: [Target]
  private let configuration: TokyoCabinetBackend.Configuration
  private let directory: String
  private let testedSizeLimit: UInt64
  /// The new files: under which name they are made, and whose they are.
  private var made: [(path: String, file: TableFile)] = []
  private var existing: [(database: HashDatabase, target: Target)] = []
  /// How many of the new files have their name.
  private var published = 0

  /// Whether an error can no longer be taken back.
  private(set) var isIrreversible = false
  /// Whether files have been made, so that the directory has to be brought to the disk.
  var hasMadeFiles: Bool { !made.isEmpty }

  init(
    _ bytes: [UInt8], _ targets: [Target], _ configuration: TokyoCabinetBackend.Configuration,
    _ directory: String, _ testedSizeLimit: UInt64
  ) {
    self.bytes = bytes
    self.targets = targets
    self.configuration = configuration
    self.directory = directory
    self.testedSizeLimit = testedSizeLimit
  }

  /// Does it all.
  mutating func run() throws {
    do {
      for target in targets { try prepare(target) }
      try changeExisting(0)
    } catch {
      takeBack()
      throw error
    }
    isIrreversible = true
    for (database, target) in existing {
      try target.file.mappingErrors { try database.synchronize() }
    }
  }

  // MARK: Before

  private mutating func prepare(_ target: Target) throws {
    try target.file.willChange()
    if let database = try target.file.database() {
      try target.file.mappingErrors { try widen(database, target) }
      existing.append((database, target))
    } else if target.writesAnything {
      try target.file.mappingErrors { try make(target) }
    }
  }

  /// Rebuilds a file with 64-bit offsets when the changes could take it past what 32 bits address.
  private func widen(_ database: HashDatabase, _ target: Target) throws {
    if testedSizeLimit > 0 { database.testedSizeLimit = testedSizeLimit }
    let options = try database.options
    if options.contains(.large) { return }
    let growth = try target.growthBound(options, UInt32(database.alignment))
    guard try database.fileSize + growth > database.fileSizeLimit else { return }
    try database.optimize(
      Tuning(
        bucketCount: Int64(database.bucketCount),
        alignmentPower: Int8(database.alignment.trailingZeroBitCount),
        options: options.union(.large)))
  }

  /// Makes the file of a table under a name of its own, without the cost of a transaction.
  private mutating func make(_ target: Target) throws {
    let path = "\(directory)/.new.\(made.count)"
    made.append((path, target.file))
    let count = max(configuration.expectedRecordCount ?? 0, target.changeCount)
    var tuning = Tuning(
      bucketCount: Tuning.bucketCount(forExpectedRecords: count),
      alignmentPower: configuration.alignmentPower)
    let limit = testedSizeLimit > 0 ? testedSizeLimit : 4 << (30 + UInt64(tuning.alignmentPower))
    let growth = target.growthBound([], 1 << UInt32(tuning.alignmentPower))
    if growth + UInt64(tuning.bucketCount) * 5 > limit { tuning.options = .large }
    let database = try HashDatabase(
      path: path, mode: .readWrite([.create, .truncate]), tuning: tuning)
    try apply(target, to: database)
    try database.synchronize()
    try database.close()
  }

  // MARK: Changing

  /// Changes the files from an index on, each within the transaction of the one before.
  private mutating func changeExisting(_ index: Int) throws {
    guard index < existing.count else { return try publish() }
    let (database, target) = existing[index]
    try target.file.mappingErrors {
      try database.transaction { database in
        try apply(target, to: database)
        try changeExisting(index + 1)
      }
    }
    // From here on the files further out have to commit too.
    isIrreversible = true
  }

  private func apply(_ target: Target, to database: HashDatabase) throws {
    switch target.content {
    case .records(let changes):
      for change in changes { try apply(change, to: database, target) }
    case .names(let changes):
      for change in changes { try apply(change, to: database) }
    }
  }

  private func apply(
    _ change: ChangeSet.RecordChange, to database: HashDatabase, _ target: Target
  ) throws {
    try withKey(of: change.rowID) { key in
      switch change.kind {
      case .insert:
        let isNew = try lend(bytes, change.range) { try database.putIfAbsent(key: key, value: $0) }
        if !isNew { throw target.file.rowExists(change.rowID) }
      case .update:
        try lend(bytes, change.range) { try database.put(key: key, value: $0) }
      case .delete:
        _ = try database.remove(key: key)
      }
    }
  }

  private func apply(_ change: ChangeSet.NameChange, to database: HashDatabase) throws {
    try withKey(ofBuffer: change.name) { key in
      if let range = change.range {
        try lend(bytes, range) { try database.put(key: key, value: $0) }
      } else {
        _ = try database.remove(key: key)
      }
    }
  }

  // MARK: After

  /// Gives the new files their names.
  private mutating func publish() throws {
    for (path, file) in made {
      try file.mappingErrors { try renameFile(path, file.path) }
      published += 1
      file.reset()
      _ = try file.database()
    }
    if existing.isEmpty && !made.isEmpty { isIrreversible = true }
  }

  /// Removes the new files, unless that would make things worse.
  private func takeBack() {
    if isIrreversible { return }
    for (index, made) in made.enumerated() {
      made.file.reset()
      try? removeFile(index < published ? made.file.path : made.path)
    }
  }

}

extension FileFold.Target {
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
