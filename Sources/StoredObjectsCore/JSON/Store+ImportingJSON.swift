public import StoreEngine

/// How an import treats the IDs in a file.
public enum JSONImportMode: String, CaseIterable, Sendable {
  /// Objects keep their IDs, and the store must not have any of them.
  case keepIDs
  /// Objects keep their IDs, and replace those that the store has.
  case replace
  /// Objects get new IDs, and references between them follow.
  case newIDs
}

extension Store {
  /// Imports the objects of a file that ``exportJSON(to:classes:progress:)`` or another program has
  /// written, see <doc:ExportingAndImportingJSON>.
  ///
  ///     try store.importJSON(from: "Music.jsonl")
  ///     try store.importJSON(from: "Seed.jsonl", mode: .newIDs)
  ///
  /// First the whole file is read and checked: a line that makes no sense is an error before
  /// anything is written. Then objects are inserted or changed like any others, in saves of a batch
  /// each. An import that fails there, or that is interrupted, keeps the batches that were saved;
  /// importing the file once more with ``JSONImportMode/replace`` does the rest. With the
  /// `batchSize` `.max` the import is one save: all of it, or nothing.
  ///
  /// Complexity: linear in the file, which is read two or three times. Memory: a batch of objects,
  /// about four times the longest line without its values outside of records, a bit for each object,
  /// and four bytes for each with new IDs.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - mode: What becomes of the IDs.
  ///   - batchSize: How many objects are saved at once, at least 1. A batch also ends after 32 MB of
  ///     lines, unless it is `.max`.
  ///   - progress: Is called after every 1,000 lines with the bytes read so far.
  /// - Returns: the number of objects.
  /// - Throws: ``/StoreEngine/StoreError`` with the file, line, class, row and property, as far as they are
  ///   known: `unsavedChanges` when there are any, for they would be saved along; `invalidJSON`,
  ///   `invalidValue`, `notRegistered`, `rowExists`, `rowIDsExhausted`, `newerVersion`,
  ///   `changedLayout`, `ioError`; and as ``saveChanges()``.
  @discardableResult
  public func importJSON(
    from path: String, mode: JSONImportMode = .keepIDs, batchSize: Int = 10_000,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> Int {
    precondition(batchSize > 0, "A batch has at least one object.")
    guard !hasUnsavedChanges else {
      throw StoreError(
        .unsavedChanges, "Save or discard changes before importing.",
        at: .init(path: backend.location))
    }
    return try withoutActuallyEscaping(progress) { (progress) throws(StoreError) -> Int in
      var importer = JSONImport(
        ObjectTarget(self), path: path, mode: mode, batchSize: batchSize, progress: progress)
      return try importer.run()
    }
  }

  /// Inserts the object that a value describes, or changes the one that has its ID.
  ///
  ///     var value = try song.value()
  ///     value["title"] = "Sunny"
  ///     try store.insertOrUpdate(value)
  ///
  /// A value without an ID becomes a new object. Properties that the value lacks have the defaults
  /// of the class in a new object, and stay as they are in one that is there. The next save writes
  /// the object.
  ///
  /// - Returns: the object.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `invalidValue`, `rowIDsExhausted`, or what
  ///   reading the object throws. The store is as it was then.
  @discardableResult
  public func insertOrUpdate(_ value: ObjectValue) throws(StoreError) -> StoredObject {
    var location = StoreError.Location(className: value.className, rowID: value.rowID)
    let target = ObjectTarget(self)
    guard let entry = target.names.id(of: value.className).flatMap({ registration(classID: $0) })
    else {
      throw StoreError(.notRegistered, "Register the class before inserting objects.", at: location)
    }
    do {
      return try put(value, entry, target)
    } catch let failure as PropertyFailure {
      location.property = failure.property
      throw StoreError(.invalidValue, failure.words, at: location)
    } catch {
      throw .wrapping(error, .invalidValue, at: location)
    }
  }

  private func put(
    _ value: ObjectValue, _ entry: RegisteredClass, _ target: ObjectTarget
  ) throws -> StoredObject {
    let classID = entry.classID
    var references = ImportReferences(target.names) { target.accepts($0, as: $1) }
    references.isKnown = { [self] in
      ($0, $1) == (classID, value.rowID ?? 0) || registration(classID: $0)?.mayHave($1) ?? false
    }
    if let row = value.rowID { try target.checkRowID(row, classID) }
    try target.check(value, classID, &references)
    try target.checkContent(value, classID, references)
    let known = try value.rowID.flatMap { try object(entry, rowID: $0) }
    guard let row = value.rowID ?? entry.shared.nextRowID() else {
      throw StoreError(.rowIDsExhausted, "All row IDs of the class are used.", at: entry.location())
    }
    if known == nil { entry.shared.handOut(upTo: row) }
    try target.put(value, classID, row, replaces: known != nil, &references)
    return known ?? entry.object(row)
  }
}
