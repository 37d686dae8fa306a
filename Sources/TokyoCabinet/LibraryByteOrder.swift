import Files
import Locks
public import TokyoCabinetFile

extension HashDatabase {
  private static let knownByteOrder = Locked<HashFileHeader.ByteOrder?>(nil)

  /// The byte order of the files that the C library here writes, and reads.
  ///
  /// The library does not tell: the first call makes a small file, looks, and removes it.
  ///
  /// Safe on any thread.
  ///
  /// - Parameter path: Where the file is made; there must be none.
  /// - Returns: the byte order.
  /// - Throws: ``TokyoCabinetError`` with a code of a system call.
  public static func libraryByteOrder(
    probing path: @autoclosure () -> String
  ) throws -> HashFileHeader.ByteOrder {
    try knownByteOrder.withLock { known in
      if let known { return known }
      let path = path()
      defer { try? removeFile(path) }
      let tuning = Tuning(bucketCount: 1, freeBlockPower: 0)
      try HashDatabase(path: path, mode: .readWrite([.create, .truncate]), tuning: tuning).close()
      guard let order = try HashFileHeader.read(path: path)?.byteOrder else {
        throw TokyoCabinetError(
          .damaged, operation: "libraryByteOrder", path: path,
          message: "the C library has written a file without a header")
      }
      known = order
      return order
    }
  }
}
