import Files

extension ClassFiles {
  /// Reads the structure of every file from its first byte to its last.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  public func inspect() throws(StoreError) -> StoreInspection {
    try tables.checkOpen()
    var inspection = StoreInspection(tableNames: [])
    inspection.findings += try directory.positionFindings()
    var entries = Set(try directory.entries().filter { !isOther($0) })
    // A table whose file a dead process has left under a temporary name has no entry of its own.
    entries.formUnion(try fileTables().map(Format.fileName))
    for entry in entries.sorted() { inspect(entry, &inspection) }
    return inspection
  }

  /// Whether an entry of the directory belongs there and is not a class file.
  func isOther(_ entry: String) -> Bool {
    StoreDirectory.isLog(entry) || [StoreDirectory.manifest, StoreDirectory.key].contains(entry)
      || entry.hasPrefix(".") || OrderedFiles.isFile(entry)
      || ExternalFileFormat.id(ofFile: entry) != nil || SegmentName.isSegment(entry)
  }

  private func inspect(_ entry: String, _ inspection: inout StoreInspection) {
    guard let name = Format.tableName(ofFile: entry) else {
      return inspection.findings.append(foreign(entry))
    }
    do {
      let location = try location(ofTable: name)
      if try systemErrors(at: location.path, { try FileStatus.find(location.file) })?.isRegular
        == false
      {
        return inspection.findings.append(foreign(entry))
      }
      let findings = try format.findings(location)
      inspection.findings += findings
      if try directory.hasFile(StoreDirectory.key), try !format.isAsWritten(location) {
        inspection.findings.append(
          .damage("it has changed since it was written", at: location.errorLocation()))
      }
      if name == StoreDirectory.buffers {
        inspection.hasReadableBuffers = findings.isEmpty
      } else if findings.isEmpty {
        inspection.tableNames.append(name)
      }
    } catch {
      let location = StoreError.Location(path: path(of: name), className: name)
      inspection.findings.append(StoreFinding(.fileDamaged, error, at: location))
      if name == StoreDirectory.buffers { inspection.hasReadableBuffers = false }
    }
  }

  private func foreign(_ entry: String) -> StoreFinding {
    StoreFinding(
      .foreignFile, "This can't be a class file: move it out of the store's directory.",
      at: .init(path: directory.path(entry)))
  }
}

extension StoreFinding {
  /// Returns a finding about damage to a class file.
  ///
  /// - Parameters:
  ///   - what: A description of the damage, in half a sentence.
  ///   - location: The file, its class, and the place of the damage.
  /// - Returns: A finding of the kind `fileDamaged`.
  public static func damage(_ what: String, at location: StoreError.Location) -> StoreFinding {
    StoreFinding(.fileDamaged, "The file is damaged: \(what). Salvage the store.", at: location)
  }
}
