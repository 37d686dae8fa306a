internal import Files

extension CDBWriter {
  /// Removes the unfinished files of processes that died while they wrote a file.
  ///
  /// They are beside that file.
  ///
  /// It considers only files with names that a writer of this path could have created. Files of
  /// active writers, in this process or another, are locked and stay. On file systems without
  /// locks, all files stay. ``CDBStore/open()`` calls this method.
  ///
  /// Complexity: linear in the number of files in the directory. Safe on any thread.
  ///
  /// - Throws: ``CDBError`` with `noFile` (the directory does not exist), `noPermission` or
  ///   `ioError`.
  public static func removeLeftovers(of path: String) throws(CDBError) {
    try removeLeftovers(of: path, in: SystemFiles.shared)
  }

  /// Removes unfinished files in a file system.
  static func removeLeftovers(
    of path: String, in fileSystem: any FileSystem
  ) throws(CDBError) {
    do throws(SystemError) {
      let target = FileLocation(try target(path, in: fileSystem), in: fileSystem)
      let directory = FileLocation(directoryName(target.path), in: fileSystem)
      for entry in try directoryEntries(directory) where isTemporaryName(entry, of: target.path) {
        try removeUnlockedFile(target.beside(entry))
      }
    } catch { throw CDBError(error) }
  }

  /// Returns the file to be replaced: the target of a symbolic link, and not the link.
  static func target(
    _ path: String, in fileSystem: any FileSystem
  ) throws(SystemError) -> String {
    do throws(SystemError) {
      return try realPath(path, in: fileSystem)
    } catch {
      if error.isMissing { return path }
      throw error
    }
  }

  private static let digitCount = 16
  private static let suffix = ".tmp"

  /// Returns a location for the new file, beside the one that it will replace.
  static func temporaryFile(_ target: FileLocation) -> FileLocation {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    let zeros = String(repeating: "0", count: digitCount - digits.count)
    return target.appending(".\(zeros)\(digits)\(suffix)")
  }

  private static func isTemporaryName(_ entry: String, of target: String) -> Bool {
    let name = target.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    let bytes = Array(entry.utf8)
    guard bytes.count == name.count + 1 + digitCount + suffix.utf8.count,
      bytes.starts(with: name + [UInt8(ascii: ".")]), entry.hasSuffix(suffix)
    else { return false }
    return bytes[(name.count + 1)...].prefix(digitCount).allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
  }
}
