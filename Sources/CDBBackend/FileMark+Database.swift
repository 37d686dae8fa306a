import CDB
import Files
import StoreEngine

// The mark of a constant database, behind its last table, where no program looks:
//
//     "SOMark" 0 1 | epoch (8) | number (4)
extension FileMark {
  /// The mark of a file; nil when it has none.
  static func ofDatabase(at place: FilePlace) throws -> FileMark? {
    try systemErrors(at: place.path) {
      guard try exists(place) else { return nil }
      let file = try FileStorage(place, writable: false)
      defer { file.close() }
      let size = magic.count + byteCount
      let start = max(0, try file.size() - size)
      return FileMark(marked: try file.read(size, at: start))
    }
  }
}
