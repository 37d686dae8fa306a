public import StoreEngine

extension Store {
  /// Writes objects to a JSON file, one line for each, see <doc:ExportingAndImportingJSON>.
  ///
  ///     try store.exportJSON(to: "Music.jsonl")
  ///     try store.exportJSON(to: "Songs.jsonl", classes: [Song.self])
  ///
  /// The export includes unsaved changes. The file gets its name after it is complete and on disk;
  /// it replaces an existing file.
  ///
  /// Complexity: Linear in the number of objects. Memory: a few hundred kilobytes, and about four
  /// times the largest record. Values outside of records are read and written in pieces.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - classes: The classes to export; nil for all registered classes.
  ///   - progress: Called for each class, and after every 1,000 objects.
  /// - Returns: The number of objects.
  /// - Throws: ``/StoreEngine/StoreError`` with `notRegistered`, `notEncodable`, `noSpace`,
  ///   `ioError`, and the errors of reading an object. No file is created then.
  @discardableResult
  public func exportJSON(
    to path: String, classes: [StoredObject.Type]? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) -> Int {
    var count = 0
    try withNewFile(path) { write in
      count = try exportJSON(classes: classes, progress: progress, write: write)
    }
    return count
  }

  /// Calls a closure with the lines of an export, a few hundred kilobytes at a time.
  ///
  /// Complexity: linear in the number of objects; memory does not depend on it.
  ///
  /// - Parameters:
  ///   - classes: The classes to export; nil for all registered classes.
  ///   - progress: Called for each class, and after every 1,000 objects.
  ///   - write: Receives UTF-8 text, which may end inside a line.
  /// - Returns: The number of objects.
  /// - Throws: The errors of ``exportJSON(to:classes:progress:)`` and of the closure.
  @discardableResult
  public func exportJSON(
    classes: [StoredObject.Type]? = nil, progress: (IntegrityProgress) -> Void = { _ in },
    write: ([UInt8]) throws -> Void
  ) throws -> Int {
    var entries = self.classes
    if let classes {
      entries = []
      for type in classes { entries.append(try requireRegistration(of: type)) }
    }
    return try withoutActuallyEscaping(write) { write in
      var output = JSONOutput(write)
      try output.append(JSONHeader(classes: entries.map(\.exported)).storedValue)
      let names = ClassNames(self.classes.lazy.map { ($0.name, $0.classID) })
      var count = 0
      for entry in entries {
        count += try export(entry, names, to: &output, progress)
      }
      try output.flush()
      return count
    }
  }

  private func export(
    _ entry: RegisteredClass, _ names: ClassNames, to output: inout JSONOutput,
    _ progress: (IntegrityProgress) -> Void
  ) throws -> Int {
    let total = try self.count(of: entry)
    var count = 0
    progress(IntegrityProgress(entry.name, 0, of: total))
    let listed = ListedExternals()
    let references = ReferenceTexts(names: names, externals: listed.texts)
    var rows = RowCursor(self, entry, keepsObjects: false)
    while let object = try rows.next() {
      let value = try value(
        of: object, entry, references, externals: .listed { listed.add($0) })
      try output.append(value.storedValue, listed.large)
      listed.removeAll()
      count += 1
      if count % 1000 == 0 { progress(IntegrityProgress(entry.name, count, of: total)) }
    }
    progress(IntegrityProgress(entry.name, count, of: total))
    return count
  }
}

/// The values outside of the record of the object that is being exported.
private final class ListedExternals {
  let large = LargeTexts<() throws -> ExternalReader>()
  private var boxes: [ExternalID: ExternalBox] = [:]

  /// The text of each value, by the reference that ``add(_:)`` returned.
  var texts: ExternalTexts {
    ExternalTexts(large: large) { [unowned self] reference in
      guard let box = boxes[reference.id] else {
        throw StoreError(.recordMissing, "The value \(reference.id) belongs to no object.")
      }
      return try box.reader()
    }
  }

  func add(_ box: ExternalBox) -> ExternalReference {
    let reference = ExternalReference(id: .random(), byteCount: box.byteCount, checksum: 0)
    boxes[reference.id] = box
    return reference
  }

  func removeAll() { boxes = [:] }
}

extension RegisteredClass {
  /// The class in the header of an export; all lines have its current layout.
  fileprivate var exported: JSONHeader.Class {
    let form = (try? DeclaredLayout.of(type))?.form
    let layout = form.map { SavedLayout(number: version, classVersion: classVersion, form: $0) }
    return JSONHeader.Class(
      name: name, classID: classID, lastRowID: shared.lastRowID,
      layouts: layout.map { [$0] } ?? [])
  }
}
