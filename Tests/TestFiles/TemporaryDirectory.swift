import Foundation

/// Where directories of tests are made.
package enum TemporaryLocation: Sendable {
  /// Among the temporary files of the system.
  case disk
  /// In memory where that can be, for files that are small and many.
  case memory

  /// The directory in which all of them are.
  var path: String {
    let memory = "/dev/shm"
    if self == .memory, FileManager.default.isWritableFile(atPath: memory) { return memory }
    return FileManager.default.temporaryDirectory.path
  }
}

/// Makes an empty directory, which whoever calls removes.
///
/// What a killed process has left the next one clears away.
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

/// The same for a closure that waits.
package func withTemporaryDirectory<Result: Sendable>(
  in location: TemporaryLocation = .disk, _ body: @Sendable (String) async throws -> Result
) async throws -> Result {
  let directory = try makeTemporaryDirectory(in: location)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try await body(directory)
}
