/// The file `Commit.key` of an encrypted store, which holds what its key is verified with.
///
///     0      "SO-Key\r\n" | version (4) | length (4) | what StoreKey made | checksum (4) | zeros
///     4096   the same again
///
/// Without its key file a store is lost. So there are two copies, in different blocks of the disk.
package enum KeyFile {
  private static let magic = Array("SO-Key\r\n".utf8)
  private static let version: UInt32 = 1
  private static let copySize = 4096
  private static let copyCount = 2

  /// Returns the bytes of the file.
  ///
  /// - Precondition: The content has at most 4,000 bytes.
  package static func bytes(_ content: [UInt8]) -> [UInt8] {
    var copy = DataBuffer(magic)
    copy.write(version)
    copy.write(content)
    copy.write(CommitLogFormat.checksum(copy.bytes))
    precondition(copy.byteCount <= copySize, "a key file's content has at most 4,000 bytes")
    let padded = copy.bytes + [UInt8](repeating: 0, count: copySize - copy.byteCount)
    return padded + padded
  }

  /// Returns the content of the file, from the first copy that is valid.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  package static func content(_ bytes: [UInt8], path: String) throws(StoreError) -> [UInt8] {
    if let content = contents(bytes).compactMap(\.self).first { return content }
    throw StoreError(
      .damaged,
      """
      Both copies in the key file are damaged: restore the file from a backup. Without it the \
      store can't be read.
      """,
      at: .init(path: path))
  }

  /// Whether every byte is as it was written.
  static func isSound(_ bytes: [UInt8]) -> Bool {
    contents(bytes).first.flatMap { $0 }.map { Self.bytes($0) == bytes } ?? false
  }

  private static func contents(_ bytes: [UInt8]) -> [[UInt8]?] {
    (0..<copyCount).map { index in
      let start = index * copySize
      return start < bytes.count ? read(Array(bytes[start...].prefix(copySize))) : nil
    }
  }

  private static func read(_ copy: [UInt8]) -> [UInt8]? {
    guard copy.starts(with: magic) else { return nil }
    var buffer = DataBuffer(copy)
    guard (try? buffer.skip(magic.count)) != nil, (try? buffer.readUInt32()) == version,
      let content = try? buffer.readBytes()
    else { return nil }
    let checksum = CommitLogFormat.checksum(Array(copy[..<buffer.offset]))
    return (try? buffer.readUInt32()) == checksum ? content : nil
  }
}
