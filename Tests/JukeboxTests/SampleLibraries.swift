import Foundation

/// Libraries that are too large to be written in a test.
enum SampleLibraries {
  private static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The library that comes with the program.
  static let sample = packageRoot.appendingPathComponent("Examples/Jukebox/Sample/Library.xml").path

  /// A real library, which the project does not contain.
  static let real = packageRoot.appendingPathComponent("../shared/data/Library.xml").path

  static var hasReal: Bool { FileManager.default.fileExists(atPath: real) }
}
