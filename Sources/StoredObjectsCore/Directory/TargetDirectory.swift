import Files

/// A directory that is made under another name, and gets its own once everything in it is on the
/// disk.
package struct TargetDirectory {
  /// The name it will have.
  package let path: String
  /// The name under which it is made.
  package let temporaryPath: String

  /// The steps of making a directory, before which tests let the disk fail or the power go.
  package enum Step: Equatable, Sendable {
    case make, copy(String), synchronize(String), synchronizeDirectory, rename, synchronizeParent
    case remove
  }

  /// What is done before each step: nothing, but in tests.
  package struct Seam: Sendable {
    private let body: (@Sendable (Step) throws -> Void)?

    /// Does nothing.
    package init() { body = nil }

    /// Asks a test, which throws when the step is to fail.
    package init(_ body: @escaping @Sendable (Step) throws -> Void) { self.body = body }

    fileprivate func before(_ step: Step) throws { try body?(step) }
  }

  private let seam: Seam

  /// Makes a directory for something that is to be at a path where nothing is, or nothing in it.
  ///
  /// - Throws: `StoreError` with `ioError`.
  package static func make<Result>(
    at path: String, seam: Seam = Seam(), _ body: (TargetDirectory) throws -> Result
  ) throws -> Result {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let target = TargetDirectory(
      path: path, temporaryPath: "\(path).partial-\(UInt32.random(in: 0 ... .max))", seam: seam)
    try target.refuseContents()
    do {
      try systemErrors(at: path) {
        try seam.before(.make)
        try makeDirectories(target.temporaryPath)
      }
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

  /// Copies a file into the directory.
  package func copy(_ name: String, from old: String) throws {
    try systemErrors(at: old) {
      try seam.before(.copy(name))
      try copyFile(old, to: temporaryPath + "/" + name)
    }
  }

  /// Brings a file in the directory to the disk.
  package func synchronize(_ name: String) throws {
    let path = temporaryPath + "/" + name
    try systemErrors(at: path) {
      try seam.before(.synchronize(name))
      let file = try FileStorage(path, writable: true)
      defer { file.close() }
      try file.synchronize()
    }
  }

  private func publish() throws {
    try systemErrors(at: path) {
      try seam.before(.synchronizeDirectory)
      try syncDirectory(temporaryPath)
      try seam.before(.rename)
      try renameFile(temporaryPath, path)
      try seam.before(.synchronizeParent)
      try syncDirectory(directoryName(path))
    }
  }

  private func remove() {
    guard (try? seam.before(.remove)) != nil else { return }
    for name in (try? directoryEntries(temporaryPath)) ?? [] {
      try? removeFile(temporaryPath + "/" + name)
    }
    try? removeDirectory(temporaryPath)
  }
}
