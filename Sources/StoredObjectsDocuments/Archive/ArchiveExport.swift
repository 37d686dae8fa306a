import Files
import StoreEngine

/// Writes a document to an archive.
struct ArchiveExport: Sendable {
  let copy: PackageCopy
  let type: DocumentType
  let path: String
  let progress: @Sendable (DocumentProgress) -> Void

  private typealias Source = (name: String, location: FileLocation, size: Int)

  /// Copies the document beside the archive, writes the copy to a hidden file, and renames it.
  func run(replacing: Bool, _ flag: CancelFlag) throws(DocumentError) {
    let parent = try openParent(of: path, in: type.fileSystem)
    let target = parent.file(lastComponent(of: path))
    try checkTarget(target, replacing)
    // Its name is never used.
    let partial = try PartialPackage(
      for: joinedPath(parent.path, PackageFormat.newPartialName), replacing: false,
      in: type.fileSystem)
    defer { partial.remove() }
    let hidden = parent.file(PackageFormat.newPartialName)
    do {
      try copy.run(to: partial.package, flag)
      let file = try NewFile.locked(hidden, rights: .anyone)
      try write(partial.package, to: file, flag)
      try checkTarget(target, replacing)
      try renameFile(hidden, target)
      try parent.synchronize()
    } catch {
      try? removeFile(hidden)
      throw .wrapping(error, at: path)
    }
  }

  private func checkTarget(_ target: FileLocation, _ replacing: Bool) throws(DocumentError) {
    let status = try documentErrors(at: path) { try FileStatus.find(target, followsLink: false) }
    guard let status else { return }
    guard replacing, status.isRegular else { throw DocumentError.exists(path) }
  }

  private func write(
    _ package: DocumentPackage, to file: NewFile, _ flag: CancelFlag
  ) throws {
    let sources = try sources(in: package)
    let total = sources.reduce(0) { $0 + $1.size }
    var done = 0
    var writer = ArchiveWriter(file)
    try writer.add(ArchiveFormat.mimeTypeName, Array(type.mimeType.utf8))
    for source in sources {
      let content = try ReadFile(source.location)
      var offset = 0
      let isKey = source.location.name == StoreDirectory.key
      try writer.add(source.name, size: source.size, mode: isKey ? 0o600 : 0o644) {
        try flag.check(path)
        progress(DocumentProgress(completedByteCount: done + offset, byteCount: total))
        let end = min(offset + ArchiveFormat.chunkSize, source.size)
        let bytes = try content.read(offset..<end)
        offset += bytes.count
        return bytes
      }
      done += source.size
    }
    try writer.finish()
    progress(DocumentProgress(completedByteCount: total, byteCount: total))
  }

  /// Returns the files of a document, in the order in which a reader wants them.
  private func sources(in package: DocumentPackage) throws -> [Source] {
    var sources: [Source] = []
    for name in [PackageFormat.manifest, PackageFormat.versions, PackageFormat.folderFile] {
      try add(package.file(name), as: name, to: &sources)
    }
    for folder in [PackageFormat.previews, PackageFormat.store] {
      let location = package.file(folder)
      guard try FileStatus.find(location, followsLink: false) != nil else { continue }
      let directory = try DirectoryHandle(location, followsLink: false)
      for name in try directory.entries().sorted() {
        try add(directory.file(name), as: folder + "/" + name, to: &sources)
      }
    }
    return sources
  }

  private func add(
    _ location: FileLocation, as name: String, to sources: inout [Source]
  ) throws {
    guard let status = try FileStatus.find(location, followsLink: false), status.isRegular else {
      return
    }
    guard ArchiveName(Array(name.utf8)) != nil else {
      // Programs may have put other files beside the previews, but the store must be complete.
      if !name.hasPrefix(PackageFormat.store) { return }
      throw DocumentError(.ioError, "The store has a file with an unusual name.", at: name)
    }
    sources.append((name, location, status.size))
  }
}
