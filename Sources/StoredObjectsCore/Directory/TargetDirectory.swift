import Files

/// A directory that is made under another name, and gets its own once everything in it is on the
/// disk.
package struct TargetDirectory {
  /// The name it will have.
  package let path: String
  /// The name under which it is made.
  package let temporaryPath: String

  /// Makes a directory for something that is to be at a path where nothing is, or nothing in it.
  ///
  /// - Throws: `StoreError` with `ioError`.
  package static func make<Result>(
    at path: String, _ body: (TargetDirectory) throws -> Result
  ) throws -> Result {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let target = TargetDirectory(
      path: path, temporaryPath: "\(path).partial-\(UInt32.random(in: 0 ... .max))")
    try target.refuseContents()
    do {
      try systemErrors(at: path) { try makeDirectories(target.temporaryPath) }
      let result = try body(target)
      try target.publish()
      return result
    } catch {
      target.remove()
      throw error
    }
  }

  private func refuseContents() throws {
    guard exists(path) else { return }
    let entries = try systemErrors(at: path) { try directoryEntries(path) }
    if entries.isEmpty { return }
    throw StoreError(
      .ioError, "There is something in the target already: name a directory that does not exist.",
      at: .init(path: path))
  }

  /// Brings a file in the directory to the disk.
  package func synchronize(_ name: String) throws {
    let path = temporaryPath + "/" + name
    try systemErrors(at: path) {
      let file = try FileStorage(path, writable: true)
      defer { file.close() }
      try file.synchronize()
    }
  }

  private func publish() throws {
    try systemErrors(at: path) {
      try syncDirectory(temporaryPath)
      try renameFile(temporaryPath, path)
      try syncDirectory(directoryName(path))
    }
  }

  private func remove() {
    for name in (try? directoryEntries(temporaryPath)) ?? [] {
      try? removeFile(temporaryPath + "/" + name)
    }
    try? removeDirectory(temporaryPath)
  }
}
