/// A file in an archive.
struct ArchiveEntry {
  let name: ArchiveName
  let size: Int
  let checksum: UInt32
  /// The offset of its local header.
  let start: Int
  /// The offset of its first byte; set when the local header has been read.
  var content = 0
}

/// The name of a file in an archive, which is one that a document can have.
struct ArchiveName: Hashable {
  /// The bytes of the name, because names that only look the same are different files.
  let bytes: [UInt8]
  /// The folder in the document; nil for a file beside the folders.
  let folder: String?
  /// The name of the file in its folder.
  let file: String

  var path: String { folder.map { "\($0)/\(file)" } ?? file }

  static func == (first: Self, second: Self) -> Bool { first.bytes == second.bytes }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// Checks a name.
  ///
  /// - Returns: nil for a name that no document has, such as one that leads out of it.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= 600, let text = String(validating: bytes, as: UTF8.self),
      !bytes.contains(0)
    else { return nil }
    self.bytes = bytes
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .compactMap { String($0) }
    let isHarmless = parts.allSatisfy { part in
      !part.isEmpty && part != "." && part != ".." && part.utf8.count <= 255
    }
    guard isHarmless else { return nil }
    switch parts.count {
    case 1:
      (folder, file) = (nil, parts[0])
      let known = [
        ArchiveFormat.mimeTypeName, PackageFormat.manifest, PackageFormat.versions,
        PackageFormat.folderFile,
      ]
      guard known.contains(file) else { return nil }
    case 2:
      (folder, file) = (parts[0], parts[1])
      let isPreview =
        folder == PackageFormat.previews && DocumentPreview.fileNames.contains(file)
      guard isPreview || folder == PackageFormat.store else { return nil }
    default: return nil
    }
  }
}
