import Files
import StoreEngine
import TokyoCabinetFile

/// The rewriting of a class file with changes, in two passes, without the C library.
struct FileRebuild {
  /// The present file; nil if there is none.
  let old: HashFile?
  /// The layout of the new file.
  let layout: HashFileLayout
  /// The new file.
  let new: NewClassFile

  /// Copies the records without changes.
  ///
  /// Complexity: linear in the size of the file.
  func run() throws {
    var changes = NameChanges([], isIndexed: false)
    try run([], &changes)
  }

  /// Writes unchanged records from the file, and changed ones from the changes.
  ///
  /// It reads the file and the changes twice, see `HashFileWriter`.
  ///
  /// Complexity: linear in the sizes of the file and the changes.
  func run(_ bytes: [UInt8], _ changes: inout some KeyedChanges) throws {
    try removeFile(new.location.file)
    let writer = try HashFileWriter(new.location.file, plan(bytes, &changes), rights: new.rights)
    try old?.forEach { key, value in
      switch changes.change(of: key) {
      case .none: try writer.append(key: key, value: value)
      case .deleted: break
      case .written(let range):
        try bytes.lend(range) { try writer.append(key: key, value: $0) }
      }
    }
    try changes.forEachLeft { key, range in
      try bytes.lend(range) { try writer.append(key: key, value: $0) }
    }
    try writer.finish(synchronized: new.isSynced && !new.isEncrypted)
    if new.isEncrypted { try FileStamp.put(on: new.location, isSynced: new.isSynced) }
  }

  private func plan(_ bytes: [UInt8], _ changes: inout some KeyedChanges) throws -> HashFilePlan {
    var layout = layout
    new.mark?.put(into: &layout.opaque)
    var plan = try HashFilePlan(layout: layout, path: new.location.path)
    plan.reserveCapacity((old?.count ?? 0) + changes.count)
    var count = 0
    try old?.forEach { key, value in
      count += 1
      switch try changes.take(key) {
      case .none: try plan.add(key: key, value: value)
      case .deleted: break
      case .written(let range): try bytes.lend(range) { try plan.add(key: key, value: $0) }
      }
    }
    if let old, count != old.count {
      throw StoreError.lostRecords(
        count, of: old.count, at: .init(path: old.path, className: new.location.className))
    }
    try changes.forEachLeft { key, range in
      try bytes.lend(range) { try plan.add(key: key, value: $0) }
    }
    return plan
  }
}
