import Files
public import StoreEngine
import TokyoCabinetFile

extension TokyoCabinetFiles {
  /// Reads the structure of every class file, without the C library.
  ///
  /// Complexity: linear in the size of the files. Memory: two bits for each place in the largest
  /// file where a record could begin.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`.
  public func inspect() throws -> StoreInspection {
    try checkOpen()
    var inspection = StoreInspection(tableNames: [])
    inspection.findings += try directory.positionFindings()
    for name in try fileNames().sorted() {
      let isOther = [StoreDirectory.log, StoreDirectory.manifest, StoreDirectory.key].contains(name)
      if isOther || name.hasPrefix(".") || OrderedFiles.isFile(name) { continue }
      try inspect(name, &inspection)
    }
    return inspection
  }

  private func inspect(_ name: String, _ inspection: inout StoreInspection) throws {
    let place = try directory.file(fileName(ofTable: name))
    let path = place.path
    do {
      guard name == StoreDirectory.buffers || Names.isTable(name),
        try storeErrors(at: path, { try isRegularFile(place) })
      else {
        inspection.findings.append(.foreign(path, "It can't be the file of a class: move it away."))
        return
      }
      let findings = try findings(name, place)
      inspection.findings += try findings + stampFindings(name, place)
      if name == StoreDirectory.buffers {
        inspection.hasReadableBuffers = findings.isEmpty
      } else if findings.isEmpty {
        inspection.tableNames.append(name)
      }
    } catch {
      inspection.findings.append(
        StoreFinding(.fileDamaged, error, at: .init(path: path, className: name)))
      if name == StoreDirectory.buffers { inspection.hasReadableBuffers = false }
    }
  }

  private func findings(_ name: String, _ file: FilePlace) throws -> [StoreFinding] {
    let place = StoreError.Place(path: file.path, className: name)
    do {
      let check = try HashFile(file).check()
      return check.findings.map { .damage($0.message, $0.offset, place) }
    } catch {
      switch error.code {
      case .notAHashFile, .truncated, .damaged:
        return [.damage(error.message, error.offset, place)]
      default: throw StoreError(error, className: name)
      }
    }
  }
}

extension TokyoCabinetFiles {
  /// What is told of a file of an encrypted store beside its structure.
  private func stampFindings(_ name: String, _ file: FilePlace) throws -> [StoreFinding] {
    if try !isEncrypted() || FileStamp.isRight(on: file) { return [] }
    return [.damage("it is not as it was written", nil, .init(path: file.path, className: name))]
  }
}

extension StoreFinding {
  static func damage(
    _ what: String, _ offset: Int?, _ place: StoreError.Place
  ) -> StoreFinding {
    var place = place
    place.offset = offset
    return StoreFinding(.fileDamaged, "The file is damaged: \(what). Salvage the store.", at: place)
  }

  static func foreign(_ path: String, _ message: String) -> StoreFinding {
    StoreFinding(.foreignFile, message, at: .init(path: path))
  }
}
