import Files
import StoredObjectsCore

/// A directory that is made under another name, and gets its own once everything in it is on the
/// disk.
struct TargetDirectory {
  /// The name it will have.
  let path: String
  /// The name under which it is made.
  let temporaryPath: String

  /// Makes a directory for something that is to be at a path where nothing is, or nothing in it.
  ///
  /// - Throws: `StoreError` with `ioError`.
  static func make<Result>(
    at path: String, _ body: (TargetDirectory) throws -> Result
  ) throws -> Result {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let target = TargetDirectory(
      path: path, temporaryPath: "\(path).partial-\(UInt32.random(in: 0 ... .max))")
    try target.refuseContents()
    do {
      try storeErrors(at: path) { try makeDirectories(target.temporaryPath) }
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
    let entries = try storeErrors(at: path) { try directoryEntries(path) }
    if entries.isEmpty { return }
    throw StoreError(
      .ioError, "There is something in the target already: name a directory that does not exist.",
      at: .init(path: path))
  }

  /// Brings a file in the directory to the disk.
  func synchronize(_ name: String) throws {
    let path = temporaryPath + "/" + name
    try storeErrors(at: path) {
      let file = try FileStorage(path, writable: true)
      defer { file.close() }
      try file.synchronize()
    }
  }

  private func publish() throws {
    try storeErrors(at: path) {
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
