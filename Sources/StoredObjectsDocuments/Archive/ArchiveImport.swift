import Files
import StoreEngine

/// Makes a document of an archive.
struct ArchiveImport: Sendable {
  let path: String
  let type: DocumentType
  let limits: ArchiveLimits
  let progress: @Sendable (DocumentProgress) -> Void

  /// Unpacks the archive into a hidden directory, and renames it.
  func run(to target: String, replacing: Bool, _ flag: CancelFlag) throws(DocumentError) {
    let archive = try ArchiveReader(path, limits: limits, in: type.fileSystem)
    try checkManifest(of: archive)
    let partial = try PartialPackage(for: target, replacing: replacing, in: type.fileSystem)
    do {
      try documentErrors(at: target) { try unpack(archive, to: partial.package, flag) }
      try partial.publish(replacing: replacing)
    } catch {
      partial.remove()
      throw error
    }
  }

  private func checkManifest(of archive: ArchiveReader) throws(DocumentError) {
    guard archive.entries.contains(where: { $0.name.folder == PackageFormat.store }),
      let bytes = try archive.smallFile(PackageFormat.manifest),
      bytes.count <= PackageFormat.maximumManifestSize
    else { throw DocumentError.invalidArchive("it has no document", path) }
    try DocumentManifest(bytes, at: path).check(is: type, at: path)
  }

  private func unpack(
    _ archive: ArchiveReader, to package: DocumentPackage, _ flag: CancelFlag
  ) throws {
    let total = archive.entries.reduce(0) { $0 + $1.size }
    var done = 0
    var folders: [String: DirectoryHandle] = [:]
    for entry in archive.entries where entry.name.path != ArchiveFormat.mimeTypeName {
      let directory = try folder(entry.name.folder, in: package, &folders)
      let isKey = entry.name.file == StoreDirectory.key
      let file = try NewFile(
        directory.file(entry.name.file), rights: isKey ? .ownerOnly : .anyone)
      var offset = 0
      try archive.read(entry) { bytes in
        try flag.check(path)
        try file.write(bytes, at: offset)
        offset += bytes.count
        progress(DocumentProgress(completedByteCount: done + offset, byteCount: total))
      }
      try file.synchronize()
      done += entry.size
    }
    for folder in folders.values { try folder.synchronize() }
  }

  private func folder(
    _ name: String?, in package: DocumentPackage, _ folders: inout [String: DirectoryHandle]
  ) throws -> DirectoryHandle {
    guard let name else { return package.handle }
    if let known = folders[name] { return known }
    try makeDirectory(package.file(name), mode: 0o777)
    let folder = try DirectoryHandle(package.file(name), followsLink: false)
    folders[name] = folder
    return folder
  }
}
