import Files
import StoreEngine
import TokyoCabinetFile

/// A checksum of a whole file of an encrypted store, in the part of the header for programs.
///
///     128    "SOStamp" 1 | CRC-32C of all other bytes of the file (4)
///
/// Seals cover everything that the store has put into the file, and the structure is verified by
/// itself. But gaps between records contain old bytes, and the list of gaps is never trusted. Only
/// such a stamp lets a check detect a change to one of these bytes. The stamp is created with the
/// file, and verified by checks. Unencrypted files have none, because other programs change them in
/// place. The ``/StoreEngine/FileMark`` of a file follows it, and stays when other programs change
/// the file.
enum FileStamp {
  private static let magic = Array("SOStamp".utf8) + [1]
  private static let checksum = HashFileHeader.opaque.lowerBound + magic.count
  static let end = checksum + 4

  /// Writes a stamp to a complete file.
  ///
  /// Complexity: linear in the size of the file, at many gigabytes per second.
  ///
  /// - Parameters:
  ///   - location: The file.
  ///   - isSynced: Whether to sync the file afterwards.
  /// - Throws: `StoreError` with `noSpace` or `ioError`.
  static func put(on location: ClassFileLocation, isSynced: Bool) throws(StoreError) {
    try storeErrors(at: location) {
      let file = try StoreFile(location.file, writable: true)
      defer { file.close() }
      // The checksum covers these bytes, too.
      try file.write(magic, at: HashFileHeader.opaque.lowerBound)
      try file.write(stamp(for: location), at: HashFileHeader.opaque.lowerBound)
      if isSynced { try file.synchronize() }
    }
  }

  /// Whether every byte of a file is as it was when it was stamped.
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

  /// Returns the stamp that a file must have.
  private static func stamp(for location: ClassFileLocation) throws(SystemError) -> [UInt8] {
    var stamp = magic
    stamp.append(littleEndian: try value(of: location))
    return stamp
  }
}
