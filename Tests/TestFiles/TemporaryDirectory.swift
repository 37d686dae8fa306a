import Foundation

/// The location of test directories.
package enum TemporaryLocation: Sendable {
  /// In the temporary files of the system.
  case disk
  /// In memory if possible, for many small files.
  case memory

  /// The path of the directory that contains all of them.
  var path: String {
    let memory = "/dev/shm"
    if self == .memory, FileManager.default.isWritableFile(atPath: memory) { return memory }
    return FileManager.default.temporaryDirectory.path
  }
}

/// Creates an empty directory, which the caller removes.
///
/// The next process removes the directories of a killed one.
package func makeTemporaryDirectory(in location: TemporaryLocation = .disk) throws -> String {
  let directory = try ProcessDirectory.of(location).nextPath()
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
  return directory
}

/// Runs a test with an empty directory, which is removed at the end.
package func withTemporaryDirectory<Result>(
  in location: TemporaryLocation = .disk, _ body: (String) throws -> Result
) throws -> Result {
  let directory = try makeTemporaryDirectory(in: location)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try body(directory)
}

/// Runs an async test with an empty directory, which is removed at the end.
package func withTemporaryDirectory<Result: Sendable>(
  in location: TemporaryLocation = .disk, _ body: @Sendable (String) async throws -> Result
) async throws -> Result {
  let directory = try makeTemporaryDirectory(in: location)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try await body(directory)
}
