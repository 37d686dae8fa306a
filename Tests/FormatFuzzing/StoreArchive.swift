import Foundation
import StoredObjectsCore

/// The files of a store in one sequence of bytes, which is damaged as a whole.
///
///     size of the name (1) | name | size (4) | content | ...
struct StoreArchive {
  private(set) var files: [(name: String, content: Range<Int>)] = []
  let bytes: [UInt8]

  /// Creates an archive of a directory.
  init(_ directory: String) throws {
    var bytes: [UInt8] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted() {
      let content = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
      bytes.append(UInt8(name.utf8.count))
      bytes += name.utf8
      bytes += Self.size(content.count)
      files.append((name, bytes.count..<bytes.count + content.count))
      bytes += content
    }
    self.bytes = bytes
  }

  private static func size(_ size: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
  }

  /// Finds the files in damaged bytes, up to the first one that makes no sense.
  init(damaged bytes: [UInt8]) {
    self.bytes = bytes
    var offset = 0
    while offset < bytes.count {
      let nameEnd = offset + 1 + Int(bytes[offset])
      guard nameEnd + 4 <= bytes.count,
        let name = String(validating: bytes[(offset + 1)..<nameEnd], as: UTF8.self),
        !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0")
      else { return }
      let size = (0..<4).reduce(0) { $0 | Int(bytes[nameEnd + $1]) << (8 * $1) }
      offset = nameEnd + 4 + size
      // The last file may have been cut off.
      files.append((name, nameEnd + 4..<min(offset, bytes.count)))
    }
  }

  /// Writes the files into a new directory.
  func write(to directory: String) throws {
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for (name, content) in files {
      try Data(bytes[content]).write(to: URL(fileURLWithPath: directory + "/" + name))
    }
  }
}
