import Files
import Foundation
import TestFiles
import Testing

@Suite("The lock on a directory")
struct DirectoryLockTests {
  @Test("A writer keeps everybody out, a reader only writers, and both until they end")
  func exclusion() throws {
    try withTemporaryDirectory { path in
      do {
        let readers = [
          try DirectoryLock(path, shared: true), try DirectoryLock(path, shared: true),
        ]
        #expect(throws: SystemError.self) { try DirectoryLock(path, shared: false) }
        withExtendedLifetime(readers) {}
      }
      do {
        let writer = try DirectoryLock(path, shared: false)
        #expect(throws: SystemError.self) { try DirectoryLock(path, shared: true) }
        #expect(throws: SystemError.self) { try DirectoryLock(path, shared: false) }
        withExtendedLifetime(writer) {}
      }
      _ = try DirectoryLock(path, shared: false)
    }
  }

  /// A descriptor that is closed twice may be another thread's the second time.
  @Test("A refused lock takes no descriptor from those who open files meanwhile")
  func refusals() throws {
    try withTemporaryDirectory { path in
      let lock = try DirectoryLock(path, shared: false)
      let file = path + "/file"
      try Data([1, 2, 3]).write(to: URL(filePath: file))
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        for _ in 0..<2_000 {
          if worker < 2 {
            #expect(throws: SystemError.self) { try DirectoryLock(path, shared: false) }
          } else {
            #expect(throws: Never.self) {
              try #expect(firstBytes(of: file, count: 3) == [1, 2, 3])
            }
          }
        }
      }
      // Still held.
      #expect(throws: SystemError.self) { try DirectoryLock(path, shared: true) }
      withExtendedLifetime(lock) {}
    }
  }

  @Test("A file in memory has its path as long as it lives")
  func memoryFile() throws {
    var file = MemoryFile()
    guard let path = file?.path else { return }
    try Data([1, 2]).write(to: URL(filePath: path))
    #expect(try firstBytes(of: path, count: 9) == [1, 2])
    withExtendedLifetime(file) {}
    file = nil
  }
}
