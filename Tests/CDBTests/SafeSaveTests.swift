import CDB
import Files
import Foundation
import Synchronization
import TestFiles
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Lets the n-th call of a step fail, or ends the process there.
private func disk(
  _ step: WritingStep, number: Int = 1, killing: Bool = false, errno: Int32 = EIO
) -> TestedFileSystem {
  let calls = Mutex(0)
  return TestedFileSystem { call, path in
    guard step.isTaken(by: call, path) else { return nil }
    let count = calls.withLock { calls in
      calls += 1
      return calls
    }
    guard count == number else { return nil }
    if killing { kill(getpid(), SIGKILL) }
    return errno
  }
}

@Suite("Replacing a file")
struct SafeSaveTests {
  /// Writes until something fails, with a replaced record so that all steps are taken.
  private static func writeNew(_ path: String, _ disk: TestedFileSystem) throws {
    let writer = try CDBWriter(path, format: .classic, in: disk)
    try writer.add("old old", forKey: "key")
    for number in 0..<4 {
      try writer.add([UInt8](repeating: UInt8(number), count: 200_000), forKey: [UInt8(number)])
    }
    try writer.add("new", forKey: "key", ifPresent: .replace)
    try writer.finish()
  }

  private static func isNew(_ path: String) throws -> Bool {
    let reader = try CDBReader(path)
    try reader.verify()
    let value = try reader.value(forKey: "key")
    #expect(value == Array("old".utf8) || value == Array("new".utf8))
    return value == Array("new".utf8)
  }

  @Test(
    "A failing step leaves the old file only",
    arguments: WritingStep.ofWriter.filter { $0 != .synchronizeDirectory }, [1, 2, 3])
  func failingStep(step: WritingStep, number: Int) throws {
    if number > 1, step != .write, step != .compact { return }
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      try write([Pair("key", "old")], to: path)
      let error = failure { try Self.writeNew(path, disk(step, number: number)) }
      guard let error else {
        // The step is not taken so often.
        #expect(number > 1)
        return
      }
      #expect(error.code == .ioError)
      #expect(try !Self.isNew(path))
      #expect(try names(directory) == ["a.cdb"])
    }
  }

  @Test("If the directory can't be synced, the new file is there, and the error says so")
  func directoryFails() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      try write([Pair("key", "old")], to: path)
      #expect(failure { try Self.writeNew(path, disk(.synchronizeDirectory)) }?.code == .ioError)
      #expect(try Self.isNew(path))
      #expect(try names(directory) == ["a.cdb"])
    }
  }

  @Test("After a full disk the writer continues")
  func fullDisk() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      let writer = try CDBWriter(path, format: .classic, in: disk(.write, errno: ENOSPC))
      try writer.add("1", forKey: "a")
      let large = [UInt8](repeating: 7, count: 600_000)
      #expect(failure { try writer.add(large, forKey: [1]) }?.code == .noSpace)
      try writer.add("2", forKey: "b")
      try writer.add(large, forKey: [2])
      try writer.finish()
      let reader = try CDBReader(path)
      try reader.verify()
      #expect(try records(reader) == [Pair("a", "1"), Pair("b", "2"), Pair([2], large)])
    }
  }

  @Test("A finish that fails on a full disk can be called again", arguments: [1, 2])
  func fullDiskAtTheEnd(number: Int) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      let writer = try CDBWriter(
        path, format: .classic, in: disk(.write, number: number, errno: ENOSPC))
      try writer.add("1", forKey: "a")
      #expect(failure { try writer.finish() }?.code == .noSpace)
      try writer.finish()
      #expect(try records(CDBReader(path)) == [Pair("a", "1")])
      try CDBReader(path).verify()
    }
  }

  @Test(
    "A process killed in any step leaves the old file or the new one",
    arguments: WritingStep.ofWriter)
  func killed(step: WritingStep) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/a.cdb"
    try write([Pair("key", "old")], to: path)
    let number = step.rawValue
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, number = number as Int] in
      let step = try #require(WritingStep(rawValue: number))
      try SafeSaveTests.writeNew(path, disk(step, killing: true))
    }
    #expect(try Self.isNew(path) == (step == .synchronizeDirectory))
    let isLeft = step != .create && step != .synchronizeDirectory
    #expect(try names(directory).count == (isLeft ? 2 : 1))
    try write([Pair("key", "new")], to: path)
    #expect(try Self.isNew(path))
    try CDBStringKeyStore(path).open()
    #expect(try names(directory) == ["a.cdb"])
  }

  @Test("The files of a dead writer are removed, and files with similar names are not")
  func leftovers() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      let others = [
        "b.cdb.0123456789abcdef.tmp", "a.cdb.0123456789abcde.tmp", "a.cdb.0123456789ABCDEF.tmp",
        "a.cdb.0123456789abcdef.tmp2", "a.cdb.0123456789abcdefg.tmp", "a.cdb", "a.cdb..tmp",
      ]
      try write([Pair("key", "old")], to: path)
      for name in others.filter({ $0 != "a.cdb" }) + ["a.cdb.0123456789abcdef.tmp"] {
        try Data([1]).write(to: URL(fileURLWithPath: directory + "/" + name))
      }
      let folder = directory + "/a.cdb.ffffffffffffffff.tmp"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false)
      try CDBStringKeyStore(path).open()
      #expect(try names(directory) == (others + ["a.cdb.ffffffffffffffff.tmp"]).sorted())
      #expect(failure { try CDBWriter.removeLeftovers(of: "/nowhere/a.cdb") }?.code == .noFile)
    }
  }

  @Test("The file of an active writer stays, also through a symbolic link, and gets its name")
  func writersAtWork() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      try write([Pair("key", "old")], to: path)
      let link = directory + "/link.cdb"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      let writer = try CDBWriter(link)
      try writer.add("new", forKey: "key")
      for name in [path, link] { try CDBStringKeyStore(name).open() }
      #expect(try names(directory).count == 3)
      try writer.finish()
      #expect(try Self.isNew(path))
    }
  }

  @Test("Writers that begin during a clean-up lose nothing")
  func clearingAtTheSameTime() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      let isDone = Mutex(false)
      Thread.detachNewThread {
        while !isDone.withLock({ $0 }) { try? CDBWriter.removeLeftovers(of: path) }
      }
      defer { isDone.withLock { $0 = true } }
      for number in 0..<500 {
        let writer = try CDBWriter(path)
        try writer.add([UInt8(number & 255)], forKey: [1])
        try writer.finish(synchronize: false)
        #expect(try CDBReader(path).value(forKey: [1]) == [UInt8(number & 255)])
      }
    }
  }
}
