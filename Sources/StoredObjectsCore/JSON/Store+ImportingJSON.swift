public import StoreEngine

/// The way an import treats the IDs in a file.
public enum JSONImportMode: String, CaseIterable, Sendable {
  /// Objects keep their IDs, and none of them may exist in the store.
  case keepIDs
  /// Objects keep their IDs, and replace existing objects.
  case replace
  /// Objects get new IDs, and the references between them are updated.
  case newIDs
}

extension Store {
  /// Imports the objects of a JSON file.
  ///
  ///     try store.importJSON(from: "Music.jsonl")
  ///     try store.importJSON(from: "Seed.jsonl", mode: .newIDs)
  ///
  /// The file is from ``exportJSON(to:classes:progress:)`` or another program, see
  /// <doc:ExportingAndImportingJSON>.
  ///
  /// The import first reads and checks the whole file: an invalid line is an error before anything
  /// is written. Then it inserts or changes the objects like any others, and saves each batch.
  ///
  /// An import that fails at that stage, or is interrupted, keeps the saved batches. To complete
  /// it, import the file again with ``JSONImportMode/replace``. With a `batchSize` of `.max`, the
  /// import is one save: all of it, or nothing.
  ///
  /// Complexity: Linear in the size of the file, which is read two or three times. Memory: a batch
  /// of objects, a bit for each object, and with new IDs four bytes for each object. The longest
  /// line takes about four times its size without its values outside of records.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - mode: The treatment of the IDs.
  ///   - batchSize: The number of objects in a save, at least 1. A batch also ends after 32 MB of
  ///     lines, unless it is `.max`.
  ///   - progress: Called after every 1,000 lines with the number of bytes read.
  /// - Returns: The number of objects.
  /// - Throws: ``/StoreEngine/StoreError`` with the file, line, class, row and property, as far as
  ///   they are known: `invalidJSON`, `invalidValue`, `notRegistered`, `rowExists`,
  ///   `rowIDsExhausted`, `newerVersion`, `changedLayout`, `ioError`, and the errors of
  ///   ``saveChanges()``. Throws `unsavedChanges` if there are any, since the import would save
  ///   them, too.
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

  /// Inserts the object that a value describes, or updates the object with its ID.
  ///
  ///     var value = try song.value()
  ///     value["title"] = "Sunny"
  ///     try store.insertOrUpdate(value)
  ///
  /// A value without an ID becomes a new object. Properties that the value lacks get the defaults
  /// of the class in a new object, and stay unchanged in an existing one. The next save writes the
  /// object.
  ///
  /// Complexity: linear in the size of the value.
  ///
  /// - Returns: The object.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `invalidValue`, `rowIDsExhausted`,
  ///   and the errors of reading the object. The store is unchanged then.
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
    guard let row = value.rowID ?? entry.nextRowID() else {
      throw StoreError(.rowIDsExhausted, "All row IDs of the class are used.", at: entry.location())
    }
    if known == nil { entry.shared.handOut(upTo: row) }
    try target.put(value, classID, row, replaces: known != nil, &references)
    return known ?? entry.object(row)
  }
}
