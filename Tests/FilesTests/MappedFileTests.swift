import Files
import Foundation
import TestFiles
import Testing

@Suite("Mapped files")
struct MappedFileTests {
  private func withPath(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { try body($0 + "/file") }
  }

  private func contents(_ file: MappedFile) -> [UInt8] {
    file.withBytes { [UInt8](copying: $0) }
  }

  @Test("It lends the bytes of the file")
  func bytes() throws {
    try withPath { path in
      let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
      try Data(bytes).write(to: URL(filePath: path))
      let file = try MappedFile(path)
      file.expect(.random)
      #expect(file.count == 10_000)
      #expect(file.path == path)
      #expect(contents(file) == bytes)
    }
  }

  @Test("A mapped file does not change when its name gets another file")
  func renamed() throws {
    try withPath { path in
      try Data([1, 2, 3]).write(to: URL(filePath: path))
      let file = try MappedFile(path)
      try Data([4]).write(to: URL(filePath: path + ".new"))
      try renameFile(path + ".new", path)
      #expect(contents(file) == [1, 2, 3])
      #expect(try contents(MappedFile(path)) == [4])
      try removeFile(path)
      #expect(contents(file) == [1, 2, 3])
    }
  }

  @Test("An empty file lends no bytes")
  func empty() throws {
    try withPath { path in
      try Data().write(to: URL(filePath: path))
      let file = try MappedFile(path)
      #expect(file.count == 0)
      #expect(contents(file) == [])
    }
    #expect(contents(MappedFile(copying: [])) == [])
  }

  @Test("Bytes can replace a file")
  func memory() {
    let file = MappedFile(copying: [5, 6, 7], path: "here")
    #expect(file.path == "here")
    #expect(contents(file) == [5, 6, 7])
  }

  @Test("A path to anything but a regular file is refused, and so is a broken link")
  func refused() throws {
    let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
    let error = #expect(throws: SystemError.self) { try MappedFile(folder) }
    #expect(error?.call == "open" && error?.description.contains("directory") == true)
    #expect(error?.path == folder)
    try withPath { path in
      let error = #expect(throws: SystemError.self) { try MappedFile(path) }
      #expect(error?.isMissing == true)
    }
  }
}
