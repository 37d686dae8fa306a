import Foundation
import Glibc

/// Returns the files in a folder and below.
private func files(_ folder: URL) -> [URL] {
  let names = FileManager.default.subpaths(atPath: folder.path) ?? []
  return names.map { folder.appending(path: $0) }
}

/// Returns the size of all files.
func byteCount(_ folder: URL) -> Int {
  files(folder).compactMap { file in
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return 0 }
    return (attributes?[.size] as? NSNumber)?.intValue
  }.reduce(0, +)
}

/// Syncs the files to the disk, and puts them into the system's cache or removes them from it.
///
/// - Throws: An error of reading.
func settle(_ folder: URL, isCold: Bool) throws {
  for file in files(folder) {
    guard let handle = try? FileHandle(forReadingFrom: file) else { continue }
    defer { try? handle.close() }
    _ = fsync(handle.fileDescriptor)
    if isCold {
      _ = posix_fadvise(handle.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
    } else {
      while let part = try? handle.read(upToCount: 1 << 24), !part.isEmpty {}
    }
  }
}
