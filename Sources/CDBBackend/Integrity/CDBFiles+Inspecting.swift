import CDB
import Files
public import StoreEngine

extension CDBFiles {
  /// Reads the structure of every file from its first byte to its last.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`.
  public func inspect() throws -> StoreInspection {
    var inspection = StoreInspection(tableNames: [])
    inspection.findings += try directory.positionFindings()
    for name in try fileNames().sorted() { inspect(name, &inspection) }
    for file in try directory.entries().sorted() where isForeign(file) {
      inspection.findings.append(
        StoreFinding(
          .foreignFile, "It can't be the file of a class: move it away.",
          at: .init(path: directory.path(file))))
    }
    return inspection
  }

  private func isForeign(_ file: String) -> Bool {
    if file.hasPrefix(".") || OrderedFiles.isFile(file) { return false }
    if Names.table(ofFile: file) != nil {
      // What the system says nothing about is found when it is read.
      return (try? FileStatus.find(try directory.file(file)))?.isRegular == false
    }
    return ![StoreDirectory.log, StoreDirectory.manifest, StoreDirectory.key].contains(file)
  }

  private func inspect(_ name: String, _ inspection: inout StoreInspection) {
    let path = path(of: name)
    do {
      let place = try directory.file(fileName(ofTable: name))
      try cdbErrors(className: name) { try TableFile.open(place, name)?.verify() }
      if name != StoreDirectory.buffers { inspection.tableNames.append(name) }
    } catch {
      inspection.findings.append(
        StoreFinding(.fileDamaged, error, at: .init(path: path, className: name)))
      if name == StoreDirectory.buffers { inspection.hasReadableBuffers = false }
    }
  }
}
