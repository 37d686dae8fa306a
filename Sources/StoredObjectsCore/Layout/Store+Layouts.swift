import Files
import StoreEngine

extension Store {
  /// How a class that is being registered is written and read.
  ///
  /// - Throws: ``StoreError`` with `changedLayout`, `invalidLayout`, `damaged` or `ioError`.
  func classLayouts(
    of type: StoredObject.Type, _ metadata: ClassMetadata?, _ shared: SharedTable
  ) throws(StoreError) -> ClassLayouts {
    let saved = try metadata == nil ? [] : savedLayouts(of: type.storedName)
    let hasNumbers = !recordFormat(shared).contains(.unversionedRecords)
    do {
      let declared = try DeclaredLayout.of(type)
      let layouts = try LayoutResolution(
        type.storedName, declared, metadata, saved, hasNumbers: hasNumbers
      ).layouts()
      if let layout = declared.layout, hasNumbers {
        try verify(layouts.assumed, layout, type.storedName, recordFormat(shared))
      }
      return layouts
    } catch {
      throw StoreError(
        error.code, error.message,
        at: .init(path: backend.location, className: type.storedName))
    }
  }

  /// Looks whether records have the layouts that they are thought to have.
  ///
  /// Some of the first are read. If there is none that fits, the class has changed.
  private func verify(
    _ assumed: [SavedLayout], _ layout: ClassLayout, _ name: String,
    _ format: ClassMetadata.Flags
  ) throws(StoreError) {
    guard !assumed.isEmpty else { return }
    var misfit: SavedLayout?
    do {
      var count = 0
      _ = try backend.scan(try backend.table(named: name), from: nil) { rowID, record in
        guard rowID > ClassMetadata.rowID else { return .next }
        if format.contains(.checksums),
          !RecordChecksum.isValid(record, classID: UInt8(classes.count), rowID: rowID)
        {
          return .next
        }
        count += 1
        var buffer = DataBuffer([UInt8](copying: record))
        guard let known = buffer.layout(among: assumed) else { return .next }
        if buffer.fits(layout.properties(at: known.classVersion), format) {
          misfit = nil
          return .pause
        }
        misfit = misfit ?? known
        return count < 16 ? .next : .pause
      }
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: backend.location, className: name))
    }
    guard let misfit else { return }
    throw .unknownProperties(
      misfit.form, misfit.number, .init(path: backend.location, className: name))
  }

  /// How the records of a class are laid out around their content.
  func recordFormat(_ shared: SharedTable) -> ClassMetadata.Flags {
    shared.recordFormat(
      newClass: configuration.newClassFormat, originalClass: configuration.originalClassFormat)
  }

  /// Refuses to write objects of a class that a later program has saved.
  func refuseOutdatedClasses() throws(StoreError) {
    for entry in classes
    where entry.isOutdated && entry.changeCounts.inserts + entry.changeCounts.updates > 0 {
      throw StoreError(
        .newerVersion,
        """
        A later program has saved the class with other properties, and this one would lose some. Use \
        the later program; if the change is meant to be taken back, raise the version: \
        @Stored(version: \(Int(entry.layouts.lastClassVersion) + 1)).
        """, at: entry.place())
    }
  }

  /// The layouts that the store has of a class.
  func savedLayouts(of className: String) throws(StoreError) -> [SavedLayout] {
    let name = LayoutFormat.bufferName(of: className)
    guard let sealed = try sealedBuffer(named: name) else { return [] }
    return try LayoutFormat.read(sealed, of: className, in: backend.location)
  }

  /// Looks whether others have saved layouts of the classes that the next save brings some of.
  func reconcileLayouts() throws(StoreError) {
    for entry in classes where entry.savesLayouts {
      let layouts = try classLayouts(of: entry.type, entry.shared.metadata, entry.shared)
      guard layouts.number == entry.version else {
        throw StoreError(
          .changedLayout,
          """
          Another store has saved the class with other properties since this one was opened. Open the \
          store again.
          """, at: entry.place())
      }
      entry.layouts = layouts
    }
  }

  /// Sets the content of an object from a record of a layout that is not today's.
  func readEarlierContent(
    of object: StoredObject, _ entry: RegisteredClass, from buffer: inout DataBuffer
  ) throws {
    // Records without a number have that of their time.
    guard entry.versionsRecords else { return try object.readContent(from: &buffer) }
    switch entry.layouts.reading(buffer.version) {
    case .asVersion(let version):
      buffer.version = version
      try object.readContent(from: &buffer)
    case .converted(let conversion, let version):
      var converted = try convertedContent(entry, conversion, &buffer)
      converted.version = version
      try object.readContent(from: &converted)
      guard converted.remainingCount == 0 else { throw unreadBytes(converted) }
    case .later: throw newerVersion(buffer.version, object.rowID, entry)
    }
  }

  private func convertedContent(
    _ entry: RegisteredClass, _ conversion: RecordConversion, _ buffer: inout DataBuffer
  ) throws -> DataBuffer {
    let fresh =
      conversion.needsDefaults ? DeclaredLayout.freshContent(of: entry.type, self) : nil
    var output = DataBuffer([], store: self)
    try conversion.convert(&buffer, fresh: fresh, into: &output) { name throws(DataBufferError) in
      guard let entry = classes.first(where: { $0.name == name }) else {
        throw DataBufferError(.unknownClass, at: 0, "\(name) is not registered with the store")
      }
      return entry.classID
    }
    output.rewind()
    return output
  }
}

extension DataBuffer {
  /// The layout that a record says it has.
  fileprivate mutating func layout(among layouts: [SavedLayout]) -> SavedLayout? {
    guard let number = try? readUInt8() else { return nil }
    return layouts.first { $0.number == number }
  }

  /// Whether the rest of a record is the values of some properties.
  fileprivate mutating func fits(
    _ properties: [StoredProperty], _ format: ClassMetadata.Flags
  ) -> Bool {
    do {
      for property in properties { try property.skip(&self) }
    } catch {
      return false
    }
    return remainingCount == (format.contains(.checksums) ? 4 : 0)
  }
}
