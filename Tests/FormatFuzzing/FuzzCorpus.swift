package import Foundation

/// Files on which the reader of a format once went somewhere new, found by libFuzzer.
package enum FuzzCorpus {
  /// The files of a format, in the order of their names.
  package static func files(of format: any FuzzedFormat) throws -> [URL] {
    let directory = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Corpus/\(format.name)")
    return try FileManager.default
      .contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Reads all of them: how many were taken for sound, and how many refused.
  ///
  /// - Throws: What the format throws when its reader contradicts itself.
  package static func read(_ format: any FuzzedFormat) throws -> (sound: Int, refused: Int) {
    let isSound = try files(of: format).map { try format.read([UInt8](Data(contentsOf: $0))) }
    let sound = isSound.count { $0 }
    return (sound, isSound.count - sound)
  }
}
