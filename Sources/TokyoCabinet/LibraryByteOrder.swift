import Files
import Locks
public import TokyoCabinetFile

extension HashDatabase {
  private static let knownByteOrder = Locked<HashFileHeader.ByteOrder?>(nil)

  /// The byte order of the files that the C library here writes, and reads.
  ///
  /// The library does not tell: the first call has it make a small file in memory, and looks. Where
  /// the system has no such files it is one on the disk, which is removed.
  ///
  /// Safe on any thread.
  ///
  /// - Parameter path: Where the file is made if it must be; there must be none.
  /// - Returns: the byte order.
  /// - Throws: ``TokyoCabinetError`` with a code of a system call.
  public static func libraryByteOrder(
    probing path: @autoclosure () -> String
  ) throws -> HashFileHeader.ByteOrder {
    try knownByteOrder.withLock { known in
      if let known { return known }
      let order = try byteOrderInMemory() ?? byteOrder(probing: path())
      known = order
      return order
    }
  }

  private static func byteOrderInMemory() -> HashFileHeader.ByteOrder? {
    guard let file = MemoryFile() else { return nil }
    return try? makeSmallFile(file.path)
  }

  private static func byteOrder(probing path: String) throws -> HashFileHeader.ByteOrder {
    defer { try? removeFile(path) }
    return try makeSmallFile(path)
  }

  private static func makeSmallFile(_ path: String) throws -> HashFileHeader.ByteOrder {
    let tuning = Tuning(bucketCount: 1, freeBlockPower: 0)
    try HashDatabase(path: path, mode: .readWrite([.create, .truncate]), tuning: tuning).close()
    guard let order = try HashFileHeader.read(path: path)?.byteOrder else {
      throw TokyoCabinetError(
        .damaged, operation: "libraryByteOrder", path: path,
        message: "the C library has written a file without a header")
    }
    return order
  }
}
