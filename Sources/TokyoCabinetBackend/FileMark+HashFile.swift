import Files
import StoreEngine
import TokyoCabinetFile

// The mark of a hash file, in the part of the header that is reserved for programs, after the
// stamp.
//
//     140    "SOMark" 0 1 | epoch (8) | number (4)
//
// The C library keeps these bytes, even when it rewrites the file.
extension FileMark {
  private static let start = FileStamp.end
  private static let end = start + magic.count + byteCount

  /// Returns the mark of a hash file; nil if it has none.
  static func ofHashFile(at location: ClassFileLocation) throws(StoreError) -> FileMark? {
    try storeErrors(at: location) {
      do {
        return FileMark(marked: try firstBytes(of: location.file, count: end).dropFirst(start))
      } catch let error as SystemError where error.isMissing {
        return nil
      }
    }
  }

  /// Inserts the mark into the bytes reserved for programs.
  func put(into opaque: inout [UInt8]) {
    let room = HashFileHeader.opaque.count
    opaque = Array((opaque + [UInt8](repeating: 0, count: room)).prefix(room))
    let offset = Self.start - HashFileHeader.opaque.lowerBound
    opaque.replaceSubrange(offset..<offset + markedBytes.count, with: markedBytes)
  }

  /// Writes the mark to a complete file, and syncs it if requested.
  func put(on location: ClassFileLocation, isSynced: Bool) throws(StoreError) {
    try storeErrors(at: location) {
      let file = try StoreFile(location.file, writable: true)
      defer { file.close() }
      try file.write(markedBytes, at: Self.start)
      if isSynced { try file.synchronize() }
    }
  }
}
