import Foundation
import Glibc
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

/// Each test runs in a process of its own, whose limits it sets.
@Suite("Limits of the system")
struct LimitTests {
  @Test("Above the limit on file sizes a save or checkpoint throws full, and can be tried again")
  func fileSize() async {
    await #expect(processExitsWith: .success) {
      try TokyoFixtures.withDirectory { directory in
        let backend = try TokyoCabinetBackend(directory: directory)
        let songs = try backend.table(named: "Song")
        try backend.commit { $0.insert(2, in: songs, [1]) }
        // Less than the buckets of a class file.
        try Limits.set(.fileSize, 40 << 10)
        #expect(TokyoFixtures.error { try backend.checkpoint() }?.code == .noSpace)
        #expect(try backend.record(2, in: songs) == [1])
        try Limits.reset(.fileSize)
        try backend.checkpoint()
        // Less than the log's next size.
        try Limits.set(.fileSize, (1 << 20) + 5000)
        // Two go to the log; larger ones would go past it.
        let large = [UInt8](repeating: 7, count: 500 << 10)
        try backend.commit { $0.insert(3, in: songs, large) }
        try backend.commit { $0.insert(5, in: songs, large) }
        #expect(
          TokyoFixtures.error { try backend.commit { $0.insert(4, in: songs, large) } }?.code
            == .noSpace)
        #expect(try backend.recordCount(in: songs) == 3)
        try Limits.set(.fileSize, 1 << 19)
        #expect(TokyoFixtures.error { try backend.checkpoint() }?.code == .noSpace)
        try Limits.reset(.fileSize)
        try backend.commit { $0.insert(4, in: songs, large) }
        try backend.close()
        let again = try TokyoCabinetBackend(directory: directory)
        let records = try again.records(in: again.table(named: "Song"))
        #expect(records == [2: [1], 3: large, 4: large, 5: large])
        try Limits.set(.fileSize, 300 << 10)
        #expect(TokyoFixtures.error { _ = try again.compact() }?.code == .noSpace)
        #expect(TokyoFixtures.error { try again.backup(to: directory + ".copy") }?.code == .noSpace)
        #expect(!FileManager.default.fileExists(atPath: directory + ".copy"))
      }
    }
  }

  @Test("With too many open files a checkpoint throws, saves continue, and nothing is lost")
  func openFiles() async {
    await #expect(processExitsWith: .success) {
      try TokyoFixtures.withDirectory { directory in
        let backend = try TokyoCabinetBackend(directory: directory)
        let songs = try backend.table(named: "Song")
        try backend.commit { $0.insert(2, in: songs, [1]) }
        try Limits.set(.openFiles, 64)
        var files: [Int32] = []
        while case let file = unsafe open("/dev/null", O_RDONLY), file >= 0 { files.append(file) }
        #expect(TokyoFixtures.error { try backend.checkpoint() }?.code == .ioError)
        try backend.commit { $0.insert(3, in: songs, [2]) }
        #expect(try backend.records(in: songs) == [2: [1], 3: [2]])
        for file in files { close(file) }
        try Limits.reset(.openFiles)
        try backend.checkpoint()
        #expect(try backend.records(in: songs) == [2: [1], 3: [2]])
        try backend.close()
      }
    }
  }

  @Test(
    "In a directory without write permission a checkpoint throws, and works when it has it again")
  func readOnlyDirectory() async {
    await #expect(processExitsWith: .success) {
      try TokyoFixtures.withDirectory { directory in
        let backend = try TokyoCabinetBackend(directory: directory)
        let songs = try backend.table(named: "Song")
        try backend.commit { $0.insert(2, in: songs, [1]) }
        #expect(unsafe chmod(directory, 0o555) == 0)
        // Nobody denies anything to root.
        let isRoot = geteuid() == 0
        if isRoot { #expect(seteuid(65534) == 0) }
        #expect(TokyoFixtures.error { try backend.checkpoint() }?.code == .ioError)
        try backend.commit { $0.insert(3, in: songs, [2]) }
        if isRoot { #expect(seteuid(0) == 0) }
        #expect(unsafe chmod(directory, 0o755) == 0)
        try backend.checkpoint()
        #expect(try backend.records(in: songs) == [2: [1], 3: [2]])
        try backend.close()
      }
    }
  }

  @Test("A checkpoint continues in a moved directory, and nothing is lost when it is moved back")
  func directoryAway() async {
    await #expect(processExitsWith: .success) {
      try TokyoFixtures.withDirectory { directory in
        let backend = try TokyoCabinetBackend(directory: directory)
        let songs = try backend.table(named: "Song")
        try backend.commit { $0.insert(2, in: songs, [1]) }
        #expect(unsafe rename(directory, directory + ".away") == 0)
        try backend.checkpoint()
        #expect(try backend.record(2, in: songs) == [1])
        #expect(unsafe rename(directory + ".away", directory) == 0)
        try backend.checkpoint()
        try backend.commit { $0.insert(3, in: songs, [2]) }
        try backend.close()
        let again = try TokyoCabinetBackend(directory: directory)
        #expect(try again.records(in: again.table(named: "Song")) == [2: [1], 3: [2]])
      }
    }
  }

  @Test("On a full disk saves, checkpoint, compact and backup throw full, and nothing is lost")
  func fullDisk() async {
    await #expect(processExitsWith: .success) {
      try TokyoFixtures.withDirectory { directory in
        try FileManager.default.createDirectory(
          atPath: directory, withIntermediateDirectories: true)
        guard unsafe mount("tmpfs", directory, "tmpfs", 0, "size=6m") == 0 else {
          return print("skipped: this process may not mount a disk of its own")
        }
        defer { _ = unsafe umount2(directory, Int32(MNT_DETACH)) }
        let backend = try TokyoCabinetBackend(directory: directory + "/store")
        let songs = try backend.table(named: "Song")
        let record = [UInt8](repeating: 7, count: 500 << 10)
        var rows: UInt32 = 2
        while (try? backend.commit { $0.insert(rows, in: songs, record) }) != nil { rows += 1 }
        #expect(rows > 3)
        #expect(TokyoFixtures.error { try backend.checkpoint() }?.code == .noSpace)
        #expect(TokyoFixtures.error { _ = try backend.compact() }?.code == .noSpace)
        #expect(
          TokyoFixtures.error { try backend.backup(to: directory + "/copy") }?.code == .noSpace)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["store"])
        #expect(try backend.recordCount(in: songs) == Int(rows) - 2)
        try? backend.close()
        let again = try TokyoCabinetBackend(
          directory: directory + "/store", configuration: .init(access: .readOnly))
        #expect(try again.recordCount(in: again.table(named: "Song")) == Int(rows) - 2)
        try again.close()
      }
    }
  }
}

/// The limits of this process.
private enum Limits {
  enum Kind { case fileSize, openFiles }

  static func set(_ kind: Kind, _ value: UInt) throws {
    var limit = rlimit()
    try #require(unsafe getrlimit(number(kind), &limit) == 0)
    limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
    try #require(unsafe setrlimit(number(kind), &limit) == 0)
  }

  static func reset(_ kind: Kind) throws { try set(kind, .max) }

  private static func number(_ kind: Kind) -> __rlimit_resource_t {
    switch kind {
    case .fileSize: __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    case .openFiles: __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    }
  }
}
