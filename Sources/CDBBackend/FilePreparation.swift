import CDB
import Files
import StoreEngine

/// Makes the file that is to take the place of a class file: its records with the changes.
struct FilePreparation {
  /// A file and what is to change in it.
  struct Target {
    let file: TableFile
    let content: Content

    enum Content {
      case records([ChangeSet.RecordChange])
      case names([ChangeSet.NameChange])
    }

    /// Whether there is anything to write, and not only to delete.
    var writesAnything: Bool {
      switch content {
      case .records(let changes): changes.contains { $0.kind != .delete }
      case .names(let changes): changes.contains { $0.range != nil }
      }
    }
  }

  let bytes: [UInt8]
  let target: Target
  let reader: CDBReader?
  /// Where the new file is made.
  let place: FilePlace
  /// The owner and the mode of the new file.
  let rights: FileRights
  /// The mark that the new file gets.
  let mark: FileMark
  let isSynced: Bool
  let testedSizeLimit: UInt64?

  /// Does it all; in the wide format once 4 bytes don't reach.
  func run() throws {
    let format = reader?.format ?? .classic
    do {
      try write(format)
    } catch let error as CDBError where error.code == .tooLarge && format == .classic {
      try write(.wide)
    }
  }

  private func write(_ format: CDBFormat) throws {
    switch target.content {
    case .records(let records):
      let changes = RowChanges<RowKey>(records, isIndexed: reader != nil, rowExists: rowExists)
      try write(changes, format)
    case .names(let names):
      try write(NameChanges(names, isIndexed: reader != nil), format)
    }
  }

  private func write(_ all: some KeyedChanges, _ format: CDBFormat) throws {
    var (changes, count) = (all, 0)
    let limit = format == .classic ? testedSizeLimit : nil
    let writer = try CDBWriter(place, format: format, rights: rights, sizeLimit: limit)
    try reader?.forEach { key, value in
      count += 1
      switch try changes.take(key) {
      case .none: try writer.add(value, forKey: key)
      case .deleted: break
      case .written(let range): try add(range, key, to: writer)
      }
    }
    if let reader, count != reader.count { throw lostRecords(count, of: reader) }
    try changes.forEachLeft { key, range in try add(range, key, to: writer) }
    try writer.finish(synchronize: isSynced, trailer: mark.markedBytes)
  }

  private func add(_ range: Range<Int>, _ key: RawSpan, to writer: CDBWriter) throws {
    try bytes.lend(range) { _ = try writer.add($0, forKey: key) }
  }

  /// A new file must not make good that an old one has lost records.
  private func lostRecords(_ count: Int, of reader: CDBReader) -> StoreError {
    StoreError(
      .damaged,
      "The file has \(count) records, and should have \(reader.count). Salvage the store.",
      at: .init(path: reader.path, className: target.file.name))
  }

  private func rowExists(_ rowID: UInt32) -> StoreError {
    StoreError(
      .rowExists, "The row is there already, and an insert must not overwrite it.",
      at: .init(path: target.file.path, className: target.file.name, rowID: rowID))
  }
}
