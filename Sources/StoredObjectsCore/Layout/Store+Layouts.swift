import Files
import StoreEngine

extension Store {
  /// Returns how to write and read a class that is being registered.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `changedLayout`, `invalidLayout`, `damaged` or
  ///   `ioError`.
  func classLayouts(
    of type: StoredObject.Type, _ metadata: ClassMetadata?, _ shared: SharedTable
  ) throws(StoreError) -> ClassLayouts {
    let hasNumbers = !recordFormat(shared).contains(.unversionedRecords)
    do {
      let declared = try DeclaredLayout.of(type)
      let sole =
        if let metadata {
          try declared.soleLayouts(savedIn: backend, metadata)
        } else {
          declared.newLayouts
        }
      if let sole { return sole }
      let saved = try metadata == nil ? [] : backend.savedLayouts(of: type.storedName)
      return try LayoutResolution(
        type.storedName, declared, metadata, saved, hasNumbers: hasNumbers
      ).layouts()
    } catch {
      throw StoreError(
        error.code, error.message,
        at: .init(path: backend.location, className: type.storedName))
    }
  }

  /// Checks that records have their assumed layouts.
  ///
  /// This method reads some of the first records. If none of them fits, the class has changed.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `changedLayout` or `ioError`.
  func verifyAssumedLayouts(of entry: RegisteredClass) throws(StoreError) {
    let (assumed, format) = (entry.layouts.assumed, entry.format)
    guard !assumed.isEmpty, entry.versionsRecords else { return }
    guard let layout = try DeclaredLayout.of(entry.type).layout else { return }
    var misfit: SavedLayout?
    do {
      var count = 0
      _ = try backend.scan(entry.table, from: nil) { rowID, record in
        guard rowID > ClassMetadata.rowID else { return .next }
        if format.contains(.checksums),
          !RecordChecksum.isValid(record, classID: entry.classID, rowID: rowID)
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
      throw .wrapping(error, .ioError, at: entry.location())
    }
    guard let misfit else { return }
    throw .unknownProperties(misfit.form, misfit.number, entry.location())
  }

  /// Returns the format of a class's records around their content.
  func recordFormat(_ shared: SharedTable) -> ClassMetadata.Flags {
    shared.recordFormat(
      newClass: configuration.newClassFormat, originalClass: configuration.originalClassFormat)
  }

  /// Throws if the next save writes objects of a class that a later program has saved.
  func checkClassVersions() throws(StoreError) {
    for entry in classes
    where entry.layouts.isOutdated && entry.changeCounts.inserts + entry.changeCounts.updates > 0 {
      throw StoreError(
        .newerVersion,
        """
        A later program has saved the class with other properties, and this one would lose some. \
        Use the later program; if you want to take the change back, raise the version: \
        @Stored(version: \(Int(entry.layouts.lastClassVersion) + 1)).
        """, at: entry.location())
    }
  }

  /// Reloads the layouts of the classes that the next save writes, if others may have saved some.
  func reconcileLayouts() throws(StoreError) {
    for entry in classes
    where entry.savesLayouts || entry.mayBeOutdated && !entry.changeCounts.isEmpty {
      let layouts = try classLayouts(of: entry.type, entry.shared.metadata, entry.shared)
      guard layouts.number == entry.version else {
        throw StoreError(
          .changedLayout,
          """
          Another store has saved the class with other properties since this one was opened. Open the \
          store again.
          """, at: entry.location())
      }
      (entry.layouts, entry.mayBeOutdated) = (layouts, false)
    }
  }

  /// Sets the content of an object from a record of an earlier layout.
  func readEarlierContent(
    of object: StoredObject, _ entry: RegisteredClass, from buffer: inout DataBuffer
  ) throws {
    // Records without a number can't be converted: the class reads them.
    guard entry.versionsRecords else { return try object.readContent(from: &buffer) }
    try readContent(of: object, entry, by: entry.layouts.reading(buffer.version), from: &buffer)
  }

  /// Sets the content of an object from content of any layout.
  func readContent(
    of object: StoredObject, _ entry: RegisteredClass, by reading: ClassLayouts.RecordReading,
    from buffer: inout DataBuffer
  ) throws {
    switch reading {
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
        throw DataBufferError(.notRegistered, at: 0, "\(name) is not registered with the store")
      }
      return entry.classID
    }
    output.rewind()
    return output
  }
}

extension DataBuffer {
  /// Returns the layout that the first byte of a record names.
  fileprivate mutating func layout(among layouts: [SavedLayout]) -> SavedLayout? {
    guard let number = try? readUInt8() else { return nil }
    return layouts.first { $0.number == number }
  }

  /// Returns whether the rest of a record is the values of some properties.
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
