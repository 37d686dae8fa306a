import Foundation
import Testing

@testable import TestFiles

@Suite("Temporary directories of tests")
struct TemporaryDirectoryTests {
  private func names(_ place: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: place))
  }

  @Test("A directory is empty and its own, and gone at the end")
  func ownDirectory() throws {
    let path = try withTemporaryDirectory { one in
      try withTemporaryDirectory { #expect($0 != one) }
      #expect(try names(one) == [])
      try Data([1]).write(to: URL(filePath: one + "/file"))
      return one
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("What a killed process has left is cleared away, and nothing of one that lives")
  func leftovers() async throws {
    let place = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: place) }
    let living = try ProcessDirectory(in: place)
    await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String] in
      let directory = try ProcessDirectory(in: place).nextPath()
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
      try Data([1]).write(to: URL(filePath: directory + "/file"))
      kill(getpid(), SIGKILL)
    }
    try FileManager.default.createDirectory(
      atPath: place + "/of somebody else", withIntermediateDirectories: false)
    #expect(try names(place).count == 3)
    let next = try ProcessDirectory(in: place)
    #expect(
      try names(place)
        == Set([living.path, next.path].map { URL(filePath: $0).lastPathComponent })
        .union(["of somebody else"]))
    withExtendedLifetime((living, next)) {}
  }
}
