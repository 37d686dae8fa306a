import Files

/// The files in the folder `Preview` of a document.
enum PreviewFiles {
  /// Reads a file; nil if it is missing.
  static func read(
    _ name: String, in package: DocumentPackage
  ) throws(DocumentError) -> [UInt8]? {
    guard let folder = try folder(of: package) else { return nil }
    return try readFile(folder.file(name), limit: PackageFormat.maximumPreviewSize)
  }

  /// Writes or, without bytes, removes a file.
  static func write(
    _ name: String, _ bytes: [UInt8]?, in package: DocumentPackage
  ) throws(DocumentError) {
    if bytes != nil {
      try documentErrors(at: package.path) {
        let location = package.file(PackageFormat.previews)
        if try FileStatus.find(location, followsLink: false) == nil {
          try makeDirectory(location, mode: 0o777)
        }
      }
    }
    guard let folder = try folder(of: package) else { return }
    guard let bytes else {
      return try documentErrors(at: package.path) { try removeFile(folder.file(name)) }
    }
    guard bytes.count <= PackageFormat.maximumPreviewSize else {
      throw DocumentError(
        .tooLarge, "A preview has more than \(PackageFormat.maximumPreviewSize) bytes.",
        at: folder.path + "/" + name)
    }
    try replaceFile(name, in: folder, by: bytes)
  }

  /// Removes files that a crash has left.
  static func removeLeftovers(in package: DocumentPackage) {
    guard let folder = try? folder(of: package) else { return }
    for name in (try? folder.entries()) ?? [] where name.hasPrefix(PackageFormat.partialPrefix) {
      try? removeFile(folder.file(name))
    }
  }

  private static func folder(
    of package: DocumentPackage
  ) throws(DocumentError) -> DirectoryHandle? {
    let location = package.file(PackageFormat.previews)
    return try documentErrors(at: location.path) {
      guard try FileStatus.find(location, followsLink: false) != nil else { return nil }
      // A symbolic link could lead anywhere.
      return try DirectoryHandle(location, followsLink: false)
    }
  }
}

extension DocumentPreview {
  /// Reads the preview of a document or of an archive, without opening its store.
  ///
  ///     let words = try DocumentPreview(of: "Ship.sketch").text
  ///
  /// It works while a program edits the document. Parts that are missing or damaged are nil.
  ///
  /// Complexity: linear in the size of the preview, and in the number of files in an archive.
  ///
  /// - Parameter path: A document, or an archive of one.
  /// - Throws: ``DocumentError`` with `missing`, `notADocument`, `invalidArchive` or `ioError`.
  public init(of path: String) throws(DocumentError) {
    try self.init(of: path, in: SystemFiles.shared)
  }

  init(of path: String, in fileSystem: any FileSystem) throws(DocumentError) {
    self.init()
    let location = FileLocation(path, in: fileSystem)
    if try documentErrors(at: path, { try FileStatus.find(location) })?.isRegular == true {
      let archive = try ArchiveReader(path, in: fileSystem)
      for file in File.allCases {
        if let bytes = try archive.smallFile(PackageFormat.previews + "/" + file.rawValue) {
          set(file, to: bytes)
        }
      }
      return
    }
    let package = try DocumentPackage(opening: path, isLocked: false, in: fileSystem)
    let limit = PackageFormat.maximumManifestSize
    guard let bytes = try package.read(PackageFormat.manifest, limit: limit) else {
      throw DocumentError(.notADocument, "The folder is not a document.", at: path)
    }
    _ = try DocumentManifest(bytes, at: path + "/" + PackageFormat.manifest)
    for file in File.allCases {
      if let bytes = try? PreviewFiles.read(file.rawValue, in: package) { set(file, to: bytes) }
    }
  }
}
