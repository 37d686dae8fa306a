import Foundation
import Testing

@testable import TestFiles

@Suite("Temporary directories of tests")
struct TemporaryDirectoryTests {
  private func names(_ parent: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: parent))
  }

  @Test("Each directory is new and empty, and is removed at the end")
  func ownDirectory() throws {
    let path = try withTemporaryDirectory { one in
      try withTemporaryDirectory { #expect($0 != one) }
      #expect(try names(one) == [])
      try Data([1]).write(to: URL(filePath: one + "/file"))
      return one
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("Directories of killed processes are removed, and those of running ones are not")
  func leftovers() async throws {
    let parent = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let living = try ProcessDirectory(in: parent)
    await #expect(processExitsWith: .signal(SIGKILL)) { [parent = parent as String] in
      let directory = try ProcessDirectory(in: parent).nextPath()
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
      try Data([1]).write(to: URL(filePath: directory + "/file"))
      kill(getpid(), SIGKILL)
    }
    try FileManager.default.createDirectory(
      atPath: parent + "/of somebody else", withIntermediateDirectories: false)
    #expect(try names(parent).count == 3)
    let next = try ProcessDirectory(in: parent)
    #expect(
      try names(parent)
        == Set([living.path, next.path].map { URL(filePath: $0).lastPathComponent })
        .union(["of somebody else"]))
    withExtendedLifetime((living, next)) {}
  }
}
