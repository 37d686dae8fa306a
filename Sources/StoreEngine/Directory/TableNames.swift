extension StoreDirectory {
  /// The maximum length of a table's name in UTF-8.
  ///
  /// File names have at most 255 bytes, and are longer on the disk: a suffix, or files that Tokyo
  /// Cabinet creates beside a file (`.wal`, `.tmp.` and an inode number). All backends share the
  /// limit, so that stores can be converted.
  package static let maximumNameByteCount = 230

  /// Returns the reason why a table can't have this name; nil if it can.
  package static func reason(againstTable name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) {
      return "it is the name of a file and must not contain / or NUL"
    }
    if name.hasPrefix(".") { return "it must not begin with a dot" }
    if name.utf8.count > maximumNameByteCount {
      return "it is longer than \(maximumNameByteCount) bytes"
    }
    if OrderedTableName(fileName: name) != nil {
      return "the files of ordered tables end with .ordered and .index"
    }
    if SegmentName.isSegment(name) { return "the segments of ordered tables have such names" }
    if ExternalFileFormat.id(ofFile: name) != nil {
      return "the files of external values have such names"
    }
    if name == buffers { return "that is the file of the named buffers" }
    if name == key { return "that is the file of the key" }
    return nil
  }
}
