import Files

/// The external values that a salvage finds.
struct ExternalSalvage {
  private let source: SalvageSource
  /// The values whose files are undamaged.
  private(set) var sound: [ExternalID: ExternalReference] = [:]
  private var damaged: Set<ExternalID> = []

  init(_ source: SalvageSource) { self.source = source }

  /// Whether there are no files of values.
  var isEmpty: Bool { sound.isEmpty && damaged.isEmpty }

  /// Reads all files.
  ///
  /// It needs memory for 100 bytes per file.
  mutating func read(_ report: inout SalvageReport) throws(StoreError) {
    for name in try source.entries().sorted() {
      guard let id = ExternalFileFormat.id(ofFile: name) else { continue }
      let location = source.directory.file(name)
      do {
        sound[id] = try systemErrors(at: location.path) {
          try ExternalFiles.verify(id, location, source.seal.sealing)
        }
      } catch {
        damaged.insert(id)
        report.lose(StoreFinding(.externalValue, error, at: .init(path: location.path)))
      }
    }
  }

  /// Returns the values that the list of the store lacks.
  ///
  /// An opening must not remove them, because records may refer to them.
  func unlisted(besides listed: Set<ExternalID>) -> [ExternalReference] {
    sound.values.filter { !listed.contains($0.id) }
  }

  /// Copies the undamaged files, and reports missing ones.
  func copy(
    listed: Set<ExternalID>, to target: TargetDirectory, _ report: inout SalvageReport
  ) throws(StoreError) {
    for id in sound.keys {
      let name = ExternalFileFormat.fileName(id)
      try target.copy(name, from: source.directory.file(name))
      try target.synchronize(name)
    }
    for id in listed where sound[id] == nil && !damaged.contains(id) {
      report.lose(
        .externalValue, "The file of a value is gone.",
        at: .init(path: source.path + "/" + ExternalFileFormat.fileName(id)))
    }
  }
}
