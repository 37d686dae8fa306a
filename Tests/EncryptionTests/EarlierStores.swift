import Foundation
import StoreFormats
import StoredObjectsCore

/// Stores as earlier versions of this library have written them, each in one text file of
/// `EarlierStores`.
///
///     file NAME SIZE
///     OFFSET BYTES...     in hexadecimal; what is left out is zero
enum EarlierStores {
  /// Those of before there were marks: version 1 of the manifest, checkpoints without marks.
  ///
  /// Each has 20 diaries, a named buffer and 20 keys in its files. Its log has a doctor, two
  /// diaries that were changed, and a key.
  static let unmarked = stores(of: "")
  /// The same of before commits had numbers: version 2 of the manifest, and all of it in the files.
  static let unnumbered = stores(of: "-unnumbered")

  private static func stores(of generation: String) -> [Earlier] {
    StoreFormat.allCases.flatMap { kind in
      [false, true].map { Earlier(kind: kind, isEncrypted: $0, generation: generation) }
    }
  }

  struct Earlier: Sendable, CustomStringConvertible {
    let kind: StoreFormat
    let isEncrypted: Bool
    let generation: String

    var description: String { "\(kind)\(isEncrypted ? "-encrypted" : "")\(generation)" }
    var key: (any StoreKey)? { isEncrypted ? testKey : nil }

    /// Writes the files into a directory, which is made.
    func write(to directory: String) throws {
      let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "EarlierStores/\(self).txt")
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      var (name, content) = ("", Data())
      for line in try String(contentsOf: source, encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ")
        if words[0] == "file" {
          if !name.isEmpty { try content.write(to: URL(filePath: directory + "/" + name)) }
          (name, content) = (String(words[1]), Data(count: Int(words[2]) ?? 0))
        } else {
          let bytes = stride(from: 0, to: words[1].utf8.count, by: 2).compactMap { offset in
            UInt8(words[1].dropFirst(offset).prefix(2), radix: 16)
          }
          let start = Int(words[0]) ?? 0
          content.replaceSubrange(start..<start + bytes.count, with: bytes)
        }
      }
      try content.write(to: URL(filePath: directory + "/" + name))
    }
  }
}
