import Files
import Locks
import TestFiles
import Testing

@testable import StoreEngine

@Suite("New files of ordered tables")
struct NewOrderedFileTests {
  private static let part = [UInt8](repeating: 9, count: 512 << 10)

  /// Writes 10 MiB; returns the calls that were made, or that failed.
  private func write(failing failed: FileCall?) throws -> [FileCall] {
    let calls = Locked<[FileCall]>([])
    let files = TestedFileSystem { call, _ in
      calls.withLock { $0.append(call) }
      return call == failed ? 5 : nil
    }
    try withTemporaryDirectory { directory in
      let location = FileLocation(directory + "/new", in: files)
      let file = try NewOrderedFile(location, rights: .anyone)
      for _ in 0..<20 { try file.write(Self.part) }
      try file.finish(isSynced: true)
      let written = try MappedFile(location)
      #expect(written.count == 10 << 20)
    }
    return calls.withLock { $0 }
  }

  @Test("The system begins to write every 4 MiB to the disk before the file is synced")
  func parts() throws {
    let calls = try write(failing: nil)
    let starts = calls.indices.filter { calls[$0] == .startWriting }
    #expect(starts.count == 2)
    let sync = try #require(calls.firstIndex(of: .sync))
    #expect(starts.allSatisfy { $0 < sync })
    #expect(calls[..<(starts.first ?? 0)].count { $0 == .write } == 8)
  }

  @Test("A file system without this call writes the same file")
  func unsupported() throws {
    #expect(try write(failing: .startWriting).count { $0 == .startWriting } == 2)
  }
}
