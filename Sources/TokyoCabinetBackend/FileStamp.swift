import Files
import StoreEngine
import TokyoCabinetFile

/// A checksum of a whole file of an encrypted store, kept where a hash file has room for the
/// program.
///
///     128    "SOStamp" 1 | CRC-32C of all other bytes of the file (4)
///
/// Seals cover what the store has put into the file, and the structure covers itself. But gaps
/// between records hold what was there before, and the list of gaps is believed by nobody: a check
/// can tell whether somebody has changed a byte of these by such a stamp only. It is made when the
/// file is, and read by checks. Files that are not encrypted have none: programs of others change
/// them in place. The ``/StoreEngine/FileMark`` of a file stands behind it, and stays when others
/// do.
enum FileStamp {
  private static let magic = Array("SOStamp".utf8) + [1]
  private static let checksum = HashFileHeader.opaque.lowerBound + magic.count
  static let end = checksum + 4

  /// Puts a stamp into a file that is whole.
  ///
  /// Complexity: linear in the size of the file, many gigabytes a second.
  ///
  /// - Parameters:
  ///   - location: The file.
  ///   - isSynced: Whether it is then brought to the disk.
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  static func put(on location: ClassFileLocation, isSynced: Bool) throws(StoreError) {
    try storeErrors(at: location) {
      let file = try StoreFile(location.file, writable: true)
      defer { file.close() }
      // The checksum is of these, too.
      try file.write(magic, at: HashFileHeader.opaque.lowerBound)
      try file.write(stamp(for: location), at: HashFileHeader.opaque.lowerBound)
      if isSynced { try file.synchronize() }
    }
  }

  /// Whether every byte of a file is as it was stamped.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: `StoreError` with `ioError`.
  static func isRight(on location: ClassFileLocation) throws(StoreError) -> Bool {
    try storeErrors(at: location) {
      let start = try firstBytes(of: location.file, count: end).dropFirst(
        HashFileHeader.opaque.lowerBound)
      return try start.elementsEqual(stamp(for: location))
    }
  }

  private static func value(of location: ClassFileLocation) throws(SystemError) -> UInt32 {
    try MappedFile(location.file).withBytes { bytes in
      var value = CRC32C()
      let size = bytes.byteCount
      for range in [0..<min(checksum, size), min(end, size)..<size] {
        value.update(Span<UInt8>(_bytes: bytes.extracting(range)))
      }
      return value.value
    }
  }

  /// The bytes that a file must have.
  private static func stamp(for location: ClassFileLocation) throws(SystemError) -> [UInt8] {
    var stamp = magic
    stamp.append(littleEndian: try value(of: location))
    return stamp
  }
}
