import Files
import Locks
public import TokyoCabinetFile

extension HashDatabase {
  private static let knownByteOrder = Locked<HashFileHeader.ByteOrder?>(nil)

  /// Returns the byte order of the files that the installed C library writes and reads.
  ///
  /// The library has no function for that: the first call creates a small file in memory with it,
  /// and reads the file. If the system does not support files in memory, it uses a file on the disk
  /// and removes it.
  ///
  /// Safe on any thread.
  ///
  /// Complexity: constant time; the first call writes and reads a small file.
  ///
  /// - Parameter path: The path of the file on the disk; it must not exist.
  /// - Returns: The byte order.
  /// - Throws: ``TokyoCabinetError`` with the code of a system call.
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
