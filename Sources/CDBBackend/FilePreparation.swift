import CDB
import Files
import StoreEngine

/// The creation of the file that replaces a class file: its records with the changes.
struct FilePreparation {
  let changes: ClassFileChanges
  let reader: CDBReader?
  let new: NewClassFile

  /// Creates the new file; in the wide format if 4 bytes are not enough.
  func run() throws(StoreError) {
    try cdbErrors(className: new.location.className) {
      let format = reader?.format ?? .classic
      do {
        try write(format)
      } catch let error as CDBError where error.code == .tooLarge && format == .classic {
        try write(.wide)
      }
    }
  }

  private func write(_ format: CDBFormat) throws {
    switch changes.content {
    case .records(let records):
      let left = RowChanges<RowKey>(
        records, isIndexed: reader != nil, rowExists: changes.rowExists)
      try write(left, format)
    case .names(let names):
      try write(NameChanges(names, isIndexed: reader != nil), format)
    }
  }

  private func write(_ all: some KeyedChanges, _ format: CDBFormat) throws {
    var (left, count) = (all, 0)
    let limit = format == .classic ? new.testedSizeLimit : nil
    let writer = try CDBWriter(
      new.location.file, format: format, rights: new.rights, sizeLimit: limit)
    try reader?.forEach { key, value in
      count += 1
      switch try left.take(key) {
      case .none: try writer.add(value, forKey: key)
      case .deleted: break
      case .written(let range): try add(range, key, to: writer)
      }
    }
    if let reader, count != reader.count {
      throw StoreError.lostRecords(count, of: reader.count, at: changes.location.errorLocation())
    }
    try left.forEachLeft { key, range in try add(range, key, to: writer) }
    try writer.finish(
      synchronize: new.isSynced, trailer: new.mark?.markedBytes ?? [], isNameSynced: false)
  }

  private func add(_ range: Range<Int>, _ key: RawSpan, to writer: CDBWriter) throws {
    try changes.bytes.lend(range) { _ = try writer.add($0, forKey: key) }
  }
}
