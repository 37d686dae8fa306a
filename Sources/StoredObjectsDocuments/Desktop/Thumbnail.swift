import Files

/// The thumbnail of a document for file managers.
public enum Thumbnail {
  /// Writes the PNG preview of a document or an archive to a file.
  ///
  /// A thumbnailer is a program that does this and nothing else:
  ///
  ///     let arguments = CommandLine.arguments  // --thumbnail input output size
  ///     try Thumbnail.write(of: arguments[2], to: arguments[3])
  ///
  /// The picture has the size that the application gave it; file managers scale it down. Make it
  /// 256 or 512 pixels wide. A document whose ``DocumentType/makePreview`` gives none has no
  /// thumbnail, and file managers show the icon.
  ///
  /// Complexity: as ``DocumentPreview/init(of:)``; writes one file, and waits for the disk.
  ///
  /// - Parameters:
  ///   - path: The document or archive.
  ///   - output: The file, which is replaced.
  /// - Throws: ``DocumentError`` with `noPreview`, or an error of ``DocumentPreview/init(of:)``.
  public static func write(of path: String, to output: String) throws(DocumentError) {
    guard let png = try DocumentPreview(of: path).png else {
      throw DocumentError(
        .noPreview, "The document has no PNG preview: its program has not made one.", at: path)
    }
    _ = try PNGHeader(png, at: path)
    let folder = try openParent(of: output, in: SystemFiles.shared)
    try replaceFile(lastComponent(of: output), in: folder, by: png)
  }
}
