import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Random searches")
struct RandomSearchTests {
  private func run(
    _ crash: ((any BackendLocation) throws -> any BackendLocation)?, _ location: any BackendLocation
  ) throws {
    try RandomSearchTest(seed: Seeds.current, sessions: 6).run(location, crash: crash)
  }

  @Test("Searches of texts in many scripts match a scan of all texts: in memory")
  func inMemory() throws { try run(nil, MemoryLocation()) }

  @Test(
    "Searches of texts in many scripts match a scan of all texts: in files",
    arguments: StoreFormat.allCases)
  func inFiles(_ format: StoreFormat) throws {
    try TokyoFixtures.withDirectory { folder in
      try run(
        { _ in DirectoryLocation(format, try crashed(in: folder)) },
        DirectoryLocation(format, folder + "/0"))
    }
  }

  /// Copies the files of the newest store in a folder, which is open, as a process leaves them that
  /// dies.
  private func crashed(in folder: String) throws -> String {
    let number = try FileManager.default.contentsOfDirectory(atPath: folder).count
    let copy = folder + "/\(number)"
    try FileManager.default.copyItem(atPath: folder + "/\(number - 1)", toPath: copy)
    return copy
  }
}
