import Files
package import StoreEngine

/// An export of the objects of a store without its classes, from the records and the layouts.
package struct RecordExport {
  private let backend: any StoreBackend
  /// All classes of the store.
  package let classes: [RecordClass]
  private let names: ClassNames
  /// The catalogue of values outside of records, if there are any.
  private let externals: ExternalCatalogue?

  /// Reads the classes of a store.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package init(_ backend: any StoreBackend) throws(StoreError) {
    self.backend = backend
    classes = try RecordClass.all(in: backend)
    names = ClassNames(classes.lazy.map { ($0.name, $0.metadata.classID) })
    externals = try ExternalCatalogue.ifUsed(in: backend)
  }

  /// Calls a closure with the lines of an export, a few hundred kilobytes at a time.
  ///
  /// - Parameters:
  ///   - exported: The classes to export.
  ///   - depth: The number of references to follow and nest.
  ///   - progress: Called for each class, and for each piece that is read.
  ///   - write: Receives UTF-8 text, which may end inside a line.
  /// - Returns: The number of objects.
  /// - Throws: ``/StoreEngine/StoreError``, and the errors of the closure.
  package func exportJSON(
    _ exported: [RecordClass], depth: Int = 0, progress: (IntegrityProgress) -> Void,
    write: @escaping ([UInt8]) throws -> Void
  ) throws -> Int {
    var output = JSONOutput(write)
    let large = LargeTexts<() throws -> ExternalReader>()
    let externals = ExternalTexts(backend.externalStorage, large: large)
    try output.append(JSONHeader(classes: exported.map(\.exported)).storedValue)
    var count = 0
    for exported in exported {
      let total = max(0, try backend.recordCount(in: exported.table) - 1)
      var done = 0
      progress(IntegrityProgress(exported.name, 0, of: total))
      try forEachPiece(of: exported) { records in
        for (row, record) in records {
          let value = try value(exported, row, record, depth: depth, externals)
          try output.append(value.storedValue, large)
        }
        done += records.count
        progress(IntegrityProgress(exported.name, done, of: total))
      }
      count += done
    }
    try output.flush()
    return count
  }

  /// Calls a closure with each object of a class, or with the error of reading it.
  package func forEachObject(
    of exported: RecordClass, _ body: (UInt32, Result<ObjectValue, any Error>) throws -> Void
  ) throws {
    let externals = ExternalTexts(backend.externalStorage)
    try forEachPiece(of: exported) { records in
      for (row, record) in records {
        try body(row, Result { try value(exported, row, record, depth: 0, externals) })
      }
    }
  }

  private func value(
    _ exported: RecordClass, _ row: UInt32, _ record: [UInt8], depth: Int,
    _ externals: ExternalTexts
  ) throws -> ObjectValue {
    do {
      if depth > 0 {
        let references = NestedRecords(export: self, depth: depth, externals: externals)
        return try exported.value(row, record, references)
      }
      let references = ReferenceTexts(names: names, externals: externals)
      let value = try exported.value(row, record, references)
      if value.bytes != nil { try checkForExternals(row, exported) }
      return value
    } catch {
      throw StoreError.wrapping(
        error, .damaged,
        at: .init(path: backend.location, className: exported.name, rowID: row))
    }
  }

  /// Throws if raw bytes refer to values outside of them.
  private func checkForExternals(_ row: UInt32, _ exported: RecordClass) throws {
    let owner = ExternalCatalogue.Owner(exported.metadata.classID, row)
    guard try externals?.values(of: owner).isEmpty ?? true else {
      throw StoreError(
        .notEncodable,
        """
        The object has values outside of its record, and its class declares no properties: export \
        with the program.
        """,
        at: .init(path: backend.location, className: exported.name, rowID: row))
    }
  }

  /// Copies records in pieces, since nothing else may be read while records are borrowed.
  private func forEachPiece(
    of exported: RecordClass, _ body: ([(UInt32, [UInt8])]) throws -> Void
  ) throws {
    var position: ScanPosition?
    while true {
      var records: [(UInt32, [UInt8])] = []
      var size = 0
      let end = try backend.scan(exported.table, from: position) { row, record in
        if row > ClassMetadata.rowID { records.append((row, [UInt8](copying: record))) }
        size += record.byteCount
        return size < 1 << 18 ? .next : .pause
      }
      try body(records)
      switch end {
      case .finished: return
      case .paused(let next): position = next
      case .disturbed:
        throw StoreError(
          .conflict, "The store has been changed while it was read: try again.",
          at: .init(path: backend.location, className: exported.name))
      }
    }
  }

  /// References as nested objects, some levels deep.
  private struct NestedRecords: ReferenceReading {
    let export: RecordExport
    let depth: Int
    let externals: ExternalTexts

    func className(of classID: UInt8) -> String? { export.names.name(of: classID) }
    func text(of external: ExternalReference) throws -> String { try externals.text(of: external) }

    func value(of className: String, row: UInt32) throws -> StoredValue {
      let text = StoredValue.string("\(className)/\(row)")
      guard depth > 0, let target = export.classes.first(where: { $0.name == className }),
        let record = try export.backend.withRecord(row, in: target.table, { [UInt8](copying: $0) })
      else { return text }
      return try export.value(target, row, record, depth: depth - 1, externals).storedValue
    }
  }
}

extension RecordClass {
  /// The class in the header of an export.
  fileprivate var exported: JSONHeader.Class {
    JSONHeader.Class(
      name: name, classID: metadata.classID, lastRowID: metadata.lastRowID, layouts: layouts)
  }
}
