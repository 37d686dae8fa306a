import Files
import Foundation
import Locks
import TestFiles
import Testing

@Suite("Directory handles and their locks")
struct DirectoryHandleTests {
  @Test("A writer blocks all others, and a reader blocks writers, until they end")
  func exclusion() throws {
    try withTemporaryDirectory { path in
      do {
        let readers = [
          try DirectoryHandle(path, shared: true), try DirectoryHandle(path, shared: true),
        ]
        #expect(throws: SystemError.self) { try DirectoryHandle(path, shared: false) }
        withExtendedLifetime(readers) {}
      }
      do {
        let writer = try DirectoryHandle(path, shared: false)
        #expect(throws: SystemError.self) { try DirectoryHandle(path, shared: true) }
        #expect(throws: SystemError.self) { try DirectoryHandle(path, shared: false) }
        withExtendedLifetime(writer) {}
      }
      _ = try DirectoryHandle(path, shared: false)
    }
  }

  /// A descriptor that is closed twice may be another thread's the second time.
  @Test("A refused lock does not close descriptors of other threads")
  func refusals() throws {
    try withTemporaryDirectory { path in
      let lock = try DirectoryHandle(path, shared: false)
      let file = path + "/file"
      try Data([1, 2, 3]).write(to: URL(filePath: file))
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        for _ in 0..<2_000 {
          if worker < 2 {
            #expect(throws: SystemError.self) { try DirectoryHandle(path, shared: false) }
          } else {
            #expect(throws: Never.self) {
              try #expect(firstBytes(of: file, count: 3) == [1, 2, 3])
            }
          }
        }
      }
      // Still held.
      #expect(throws: SystemError.self) { try DirectoryHandle(path, shared: true) }
      withExtendedLifetime(lock) {}
    }
  }

  @Test("A file in memory has its path as long as it exists")
  func memoryFile() throws {
    var file = MemoryFile()
    guard let path = file?.path else { return }
    try Data([1, 2]).write(to: URL(filePath: path))
    #expect(try firstBytes(of: path, count: 9) == [1, 2])
    withExtendedLifetime(file) {}
    file = nil
  }

  @Test("The words in a file in memory are found by its name, as long as it exists")
  func publishedWords() throws {
    let name = "words of \(UInt64.random(in: 0 ... .max))"
    let process = ProcessInfo.processInfo.processIdentifier
    func found(_ name: String) -> [UInt8]? { MemoryFile.bytes(of: name, in: process, atMost: 128) }
    guard var file = MemoryFile(named: name).map(Optional.some) else { return }
    let words = try SharedWords(#require(file))
    words[1] = 0x0102
    #expect(found(name)?.suffix(64).prefix(3) == [2, 1, 0])
    #expect(found(name + "x") == nil && found("words of ") == nil)
    #expect(MemoryFile.bytes(of: name, in: .max, atMost: 128) == nil)
    file = nil
    #expect(found(name) == nil && words[1] == 0x0102)
  }

  @Test("A handle keeps its directory when the path gets another one, and reports its path")
  func moved() throws {
    try withTemporaryDirectory { parent in
      let path = parent + "/Music"
      try makeDirectories(path)
      let handle = try DirectoryHandle(path, shared: false)
      _ = try NewFile(handle.file("a"))
      #expect(try handle.position() == .unchanged)
      try renameFile(path, parent + "/Elsewhere")
      #expect(try handle.position() == .moved(to: parent + "/Elsewhere"))
      try makeDirectories(path)
      #expect(try handle.position() == .moved(to: parent + "/Elsewhere"))
      _ = try NewFile(handle.file("b"))
      try renameFile(handle.file("a"), handle.file("c"))
      try removeFile(handle.file("b"))
      #expect(try handle.entries() == ["c"])
      #expect(try directoryEntries(path) == [])
      #expect(try exists(handle.file("c")))
      #expect(try !exists(handle.file("a")))
      #expect(try exists(handle.file("c").libraryPath))
      try removeFile(handle.file("c"))
      try removeDirectory(parent + "/Elsewhere")
      #expect(try handle.position() == .removed)
      #expect(throws: SystemError.self) { try handle.entries() }
    }
  }

  @Test("New files have the given permissions, whatever the umask, and links are not followed")
  func rights() throws {
    try withTemporaryDirectory { parent in
      _ = try NewFile(parent + "/old", rights: .ownerOnly)
      let old = try #require(try FileStatus.find(parent + "/old")).rights
      #expect(old.mode == 0o600)
      var open = old
      open.mode = 0o666
      _ = try NewFile(parent + "/new", rights: open.ofReplacement)
      #expect(try FileStatus.find(parent + "/new")?.rights.mode == 0o666)
      open.mode = 0o444
      #expect(open.ofReplacement.mode == 0o644)
      #expect(open.ofKey.mode == 0o600)
      open.mode = 0o640
      #expect(open.ofKey.mode == 0o640)
      try FileManager.default.createSymbolicLink(
        atPath: parent + "/link", withDestinationPath: parent + "/none")
      #expect(throws: SystemError.self) { try NewFile(parent + "/link") }
      #expect(throws: SystemError.self) { try openFile(parent + "/link", writable: true) }
      #expect(throws: SystemError.self) { try copyFile(parent + "/old", to: parent + "/new") }
      let target = try FileManager.default.destinationOfSymbolicLink(atPath: parent + "/link")
      #expect(target == parent + "/none")
      #expect(try FileStatus.find(parent + "/link") == nil)
    }
  }

  @Test("A directory that replaces another before the lock is taken is the locked one")
  func replacedWhileOpening() throws {
    try withTemporaryDirectory { parent in
      let path = parent + "/Music"
      for name in ["Music", "Backup"] { try makeDirectories(parent + "/" + name) }
      let backup = try FileStatus.find(parent + "/Backup")?.identity
      let isMoved = SharedLock(false)
      let files = TestedFileSystem { call, _ in
        guard call == .lock, !isMoved.withLock({ $0 }) else { return nil }
        isMoved.withLock { $0 = true }
        try? renameFile(path, parent + "/Music.broken")
        try? renameFile(parent + "/Backup", path)
        return nil
      }
      let handle = try DirectoryHandle(FileLocation(path, in: files), shared: false)
      #expect(handle.identity == backup)
      #expect(throws: SystemError.self) { try DirectoryHandle(path, shared: false) }
      _ = try DirectoryHandle(parent + "/Music.broken", shared: false)
    }
  }

  @Test("Only a missing entry counts as absent, not another error")
  func absence() throws {
    try withTemporaryDirectory { parent in
      let file = parent + "/file"
      _ = try NewFile(file)
      for number in [EIO, EACCES, EMFILE, ENOMEM, ELOOP] {
        let files = TestedFileSystem { _, _ in number }
        let failing = FileLocation(file, in: files)
        #expect(throws: SystemError.self) { try exists(failing) }
        #expect(throws: SystemError.self) { try isRegularFile(failing) }
        #expect(throws: SystemError.self) { try FileStatus.find(failing) }
        #expect(throws: SystemError.self) { try directoryEntries(FileLocation(parent, in: files)) }
      }
      #expect(try exists(file))
      #expect(try !exists(file + "/below"))
      #expect(try !exists(parent + "/none"))
    }
  }
}
