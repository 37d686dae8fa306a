package import Foundation

/// Files found by libFuzzer, on which the reader of a format once reached new code.
package enum FuzzCorpus {
  /// Returns the files of a format, in the order of their names.
  package static func files(of format: any FuzzedFormat) throws -> [URL] {
    let directory = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Corpus/\(format.name)")
    return try FileManager.default
      .contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Reads all files, and returns how many were considered sound, and how many were refused.
  ///
  /// - Throws: An error of the format if its reader contradicts itself.
  package static func read(_ format: any FuzzedFormat) throws -> (sound: Int, refused: Int) {
    let isSound = try files(of: format).map { try format.read([UInt8](Data(contentsOf: $0))) }
    let sound = isSound.count { $0 }
    return (sound, isSound.count - sound)
  }
}
