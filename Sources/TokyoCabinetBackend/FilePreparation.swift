import Files
import StoreEngine
import TokyoCabinet
import TokyoCabinetFile

/// The creation of the file that replaces a class file: the old one with changes.
///
/// For few changes, the C library changes a copy, which takes the time of the copy and of the
/// changes. For many changes, the file is rewritten, which takes a few times as long as a copy,
/// regardless of the number of changes. By measurement, the two are equal at about a twelfth of the
/// records. A file is also rewritten if the C library could not change it, or if it has outgrown its
/// layout. Since the C library trusts the content of a file, so is a file that this backend has not
/// written.
///
/// No other process knows the new file yet, so it needs no transactions; it is complete once it is
/// closed.
struct FilePreparation {
  let changes: ClassFileChanges
  /// The present file; nil if there is none.
  let old: HashClassFile?
  let new: NewClassFile
  let format: TokyoCabinetFormat
  /// The byte order of the files that the C library reads.
  let byteOrder: HashFileHeader.ByteOrder

  /// The number of records per change above which a copy is cheaper than a new file.
  private static let recordsPerChange = 12

  /// Creates the new file.
  func run() throws(StoreError) {
    try storeErrors(at: changes.location) {
      if let old, old.isOurs, canChangeCopy(of: old.file) {
        try changeCopy()
      } else {
        try rebuild(old?.file)
      }
    }
  }

  private func canChangeCopy(of old: HashFile) -> Bool {
    let count = old.count
    let options = old.header.options
    let growth = changes.growthBound(options, 1 << UInt32(old.header.alignmentPower))
    return old.header.byteOrder == byteOrder
      && changes.count < count / Self.recordsPerChange
      && !Layouts.isOutgrown(recordCount: count, bucketCount: old.layout.bucketCount)
      && (options.contains(.large) || old.header.fileSize + growth <= limit(of: old.layout))
  }

  // MARK: A new file

  private func rebuild(_ old: HashFile?) throws {
    var layout = old?.layout ?? HashFileLayout()
    layout.byteOrder = byteOrder
    layout.bucketCount = Layouts.bucketCount(
      for: max(format.expectedRecordCount ?? 0, (old?.count ?? 0) + changes.count))
    if old == nil { layout.alignmentPower = UInt8(bitPattern: format.alignmentPower) }
    if mayOutgrow(layout, old) { layout.alignmentPower = max(2, layout.alignmentPower) }
    if mayOutgrow(layout, old) { layout.options.insert(.large) }
    let rebuild = FileRebuild(old: old, layout: layout, new: new)
    switch changes.content {
    case .records(let records):
      var left = RowChanges<HashFileKeys>(
        records, isIndexed: old != nil, rowExists: changes.rowExists)
      try rebuild.run(changes.bytes, &left)
    case .names(let names):
      var left = NameChanges(names, isIndexed: old != nil)
      try rebuild.run(changes.bytes, &left)
    }
  }

  /// Whether the file may outgrow a layout.
  private func mayOutgrow(_ layout: HashFileLayout, _ old: HashFile?) -> Bool {
    let growth = changes.growthBound(layout.options, 1 << UInt32(layout.alignmentPower))
    let size = (old?.header.fileSize ?? 8192) + UInt64(old?.count ?? 0) * padding(layout, old)
    return size + growth + UInt64(layout.bucketCount) * 5 > limit(of: layout)
  }

  /// Returns the number of bytes that a record of the old file may grow by in a layout.
  private func padding(_ layout: HashFileLayout, _ old: HashFile?) -> UInt64 {
    layout.alignmentPower > old?.layout.alignmentPower ?? 0 ? 1 << layout.alignmentPower : 0
  }

  /// Returns the maximum size of a file with this layout and 32-bit offsets.
  private func limit(of layout: HashFileLayout) -> UInt64 {
    (new.testedSizeLimit ?? 4 << 30) << UInt64(layout.alignmentPower)
  }

  // MARK: A copy

  private func changeCopy() throws {
    try removeFile(new.location.file)
    try copyFile(changes.location.file, to: new.location.file)
    let database = try HashDatabase(path: new.location.openingPath, mode: .readWrite([]))
    if let limit = new.testedSizeLimit {
      database.testedSizeLimit = limit * UInt64(try database.alignment)
    }
    switch changes.content {
    case .records(let records):
      for change in records { try apply(change, to: database) }
    case .names(let names):
      // Names could be chosen to share a bucket, and in order they would turn its tree into a list.
      let order = names.count > 16 ? names.shuffled() : names
      for change in order { try apply(change, to: database) }
    }
    try database.close()
    // Only now, because the library writes the header and the list of free blocks when it closes.
    try new.mark?.put(on: new.location, isSynced: new.isSynced && !new.isEncrypted)
    if new.isEncrypted { try FileStamp.put(on: new.location, isSynced: new.isSynced) }
  }

  private func apply(_ change: ChangeSet.RecordChange, to database: HashDatabase) throws {
    try withKey(of: change.rowID) { key in
      switch change.kind {
      case .insert:
        let isNew = try changes.bytes.lend(change.range) {
          try database.putIfAbsent(key: key, value: $0)
        }
        if !isNew { throw changes.rowExists(change.rowID) }
      case .update:
        try changes.bytes.lend(change.range) { try database.put(key: key, value: $0) }
      case .delete:
        _ = try database.remove(key: key)
      }
    }
  }

  private func apply(_ change: ChangeSet.NameChange, to database: HashDatabase) throws {
    try withKey(ofBuffer: change.name) { key in
      if let range = change.range {
        try changes.bytes.lend(range) { try database.put(key: key, value: $0) }
      } else {
        _ = try database.remove(key: key)
      }
    }
  }
}

extension ClassFileChanges {
  /// Returns an upper bound of the bytes that the changes add to the file.
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
}
