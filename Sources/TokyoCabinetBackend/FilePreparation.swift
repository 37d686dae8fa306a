import Files
import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// Makes the file that is to take the place of a class file: the old one with the changes.
///
/// Few changes are made by the C library in a copy, which takes the time of the copy and of the
/// changes; many by writing the file anew, which takes a few times as long as a copy, however many
/// there are. Measured, the two are even at about a twelfth of the records. A file that the C
/// library could not change, or that has become too large for its layout, is written anew, too; and
/// so is one that this backend has not made itself, because the C library trusts what is in a file.
///
/// Nobody else knows the new file yet, so it needs no transactions; it is whole once it is closed.
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
  let place: FilePlace
  /// The owner and the mode of the new file.
  let rights: FileRights
  let configuration: TokyoCabinetFiles.Configuration
  let testedSizeLimit: UInt64
  let isSynced: Bool
  /// The mark that the new file gets.
  let mark: FileMark
  /// Whether the file gets a ``FileStamp``.
  let isStamped: Bool
  /// The byte order of the files that the C library reads.
  let byteOrder: HashFileHeader.ByteOrder

  /// Records for each change, from which on a copy is cheaper than a new file.
  private static let recordsPerChange = 12

  /// Does it all.
  func run() throws {
    let (old, generation) = try target.file.fileAndGeneration()
    try target.file.mappingErrors {
      if let old, generation > 0, canChangeCopy(of: old) {
        try changeCopy()
      } else {
        try rebuild(old)
      }
    }
  }

  private func canChangeCopy(of old: HashFile) -> Bool {
    let count = old.count
    let options = old.header.options
    let growth = target.growthBound(options, 1 << UInt32(old.header.alignmentPower))
    return old.header.byteOrder == byteOrder
      && target.changeCount < count / Self.recordsPerChange
      && !Layouts.isOutgrown(recordCount: count, bucketCount: old.layout.bucketCount)
      && (options.contains(.large) || old.header.fileSize + growth <= limit(of: old.layout))
  }

  // MARK: A new file

  private func rebuild(_ old: HashFile?) throws {
    var layout = old?.layout ?? HashFileLayout()
    layout.byteOrder = byteOrder
    layout.bucketCount = Layouts.bucketCount(
      for: max(configuration.expectedRecordCount ?? 0, (old?.count ?? 0) + target.changeCount))
    if old == nil { layout.alignmentPower = UInt8(bitPattern: configuration.alignmentPower) }
    if mayOutgrow(layout, old) { layout.alignmentPower = max(2, layout.alignmentPower) }
    if mayOutgrow(layout, old) { layout.options.insert(.large) }
    let rebuild = FileRebuild(
      old: old, layout: layout, place: place, rights: rights, isSynced: isSynced, mark: mark,
      isStamped: isStamped)
    switch target.content {
    case .records(let records):
      let file = target.file
      var changes = RowChanges<HashFileKeys>(records, isIndexed: old != nil) { file.rowExists($0) }
      try rebuild.run(bytes, &changes)
    case .names(let names):
      var changes = NameChanges(names, isIndexed: old != nil)
      try rebuild.run(bytes, &changes)
    }
  }

  /// Whether the file may become larger than a layout allows.
  private func mayOutgrow(_ layout: HashFileLayout, _ old: HashFile?) -> Bool {
    let growth = target.growthBound(layout.options, 1 << UInt32(layout.alignmentPower))
    let size = (old?.header.fileSize ?? 8192) + UInt64(old?.count ?? 0) * padding(layout, old)
    return size + growth + UInt64(layout.bucketCount) * 5 > limit(of: layout)
  }

  /// How much longer a record of the old file may be in a layout.
  private func padding(_ layout: HashFileLayout, _ old: HashFile?) -> UInt64 {
    layout.alignmentPower > old?.layout.alignmentPower ?? 0 ? 1 << layout.alignmentPower : 0
  }

  /// How large a file of a layout may become without 64-bit offsets.
  private func limit(of layout: HashFileLayout) -> UInt64 {
    (testedSizeLimit > 0 ? testedSizeLimit : 4 << 30) << UInt64(layout.alignmentPower)
  }

  // MARK: A copy

  private func changeCopy() throws {
    try storeErrors(at: place.path) {
      try removeFile(place)
      try copyFile(target.file.place(), to: place)
    }
    let database = try HashDatabase(path: place.libraryPath, mode: .readWrite([]))
    if testedSizeLimit > 0 {
      database.testedSizeLimit = testedSizeLimit * UInt64(try database.alignment)
    }
    switch target.content {
    case .records(let changes):
      for change in changes { try apply(change, to: database) }
    case .names(let changes):
      // Names can be chosen to share a bucket, whose tree would be a list if they came in order.
      let order = changes.count > 16 ? changes.shuffled() : changes
      for change in order { try apply(change, to: database) }
    }
    try database.close()
    // Not before: the library writes the header and the list of free blocks when it closes.
    try mark.put(on: place, isSynced: isSynced && !isStamped)
    if isStamped { try FileStamp.put(on: place, isSynced: isSynced) }
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
  func growthBound(_ options: HashFileOptions, _ alignment: UInt32) -> UInt64 {
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
