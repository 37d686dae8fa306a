import Files
import StoredObjectsCore

/// A copy of a package into a new one, as of the last commit.
struct PackageCopy: Sendable {
  let package: DocumentPackage
  let backend: any DirectoryBackend
  let progress: @Sendable (DocumentProgress) -> Void

  /// Copies the files; the store is shared with the original where the file system can.
  ///
  /// The store stays usable; commits wait while files are copied.
  func run(to target: DocumentPackage, _ flag: CancelFlag) throws(DocumentError) {
    try flag.check(package.path)
    try documentErrors(at: target.path) {
      try copySmallFiles(to: target)
      try backend.backup(to: target.storePath) {
        progress(DocumentProgress(completedByteCount: $0.completed, byteCount: $0.total))
      }
      try flag.check(package.path)
      if let rights = try FileStatus.find(package.file("."))?.rights {
        try target.handle.take(rights)
      }
      try target.handle.synchronize()
    }
  }

  private func copySmallFiles(to target: DocumentPackage) throws {
    for name in [PackageFormat.manifest, PackageFormat.versions, PackageFormat.folderFile] {
      let limit = PackageFormat.maximumVersionsSize
      if let bytes = try package.read(name, limit: limit) { try target.replace(name, by: bytes) }
    }
    for name in DocumentPreview.fileNames {
      guard let bytes = try? PreviewFiles.read(name, in: package) else { continue }
      try PreviewFiles.write(name, bytes, in: target)
    }
  }
}
