import Files
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

/// Helpers of the tests of folding during saves.
enum FoldingFixture {
  /// Limits under which only the test says when the log is folded.
  static var limits: CheckpointLimits {
    var limits = CheckpointLimits(logBytes: 1 << 30, bulkBytes: 1 << 30)
    limits.logGrowth = 8 << 10
    (limits.besideBytes, limits.foldsOnThread) = (0, false)
    return limits
  }

  /// Lets a test use a directory that does not exist yet, with others beside it.
  static func withStore(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { try body($0 + "/store") }
  }

  static func open(
    _ kind: TestedBackend, _ directory: String, readOnly: Bool = false
  ) throws -> (backend: any DirectoryBackend, folding: any FoldingBeside) {
    let backend = try kind.open(directory, readOnly: readOnly, limits: limits)
    return (backend, try #require(backend as? any FoldingBeside))
  }

  /// Saves, begins to fold, and saves on.
  static func save(
    _ session: ScriptedSession, _ first: Range<Int>, thenFoldingBeside second: Range<Int>,
    on backend: any DirectoryBackend
  ) throws {
    for save in session.saves[first] { try save.commit(to: backend) }
    let folding = try #require(backend as? any FoldingBeside)
    #expect(try folding.beginFolding())
    for save in session.saves[second] { try save.commit(to: backend) }
  }

  /// The damage in logs and files; the records of scripts belong to no class.
  static func damage(_ kind: TestedBackend, _ directory: String) throws -> [StoreFinding] {
    try kind.check(directory).findings.filter { [.log, .fileDamaged].contains($0.kind) }
  }

  /// Whether a salvaged store, which has got metadata rows, holds what another one does.
  static func holdsSame(_ salvaged: StoreImage, _ image: StoreImage) -> Bool {
    // Buffers of scripts have no checksum, without which a salvage leaves them out.
    salvaged.differences(from: image).allSatisfy {
      $0.hasSuffix(" 1") || $0.hasPrefix("buffer ")
    }
  }

  /// A copy of the files as a killed process would leave them: without closing.
  static func copy(_ directory: String) throws -> String {
    let target = directory + " copied"
    try makeDirectories(target)
    for name in try entries(of: directory) {
      let file = FileLocation(directory + "/" + name)
      if try isRegularFile(file) { try copyFile(file, to: FileLocation(target + "/" + name)) }
    }
    return target
  }

  static func entries(of directory: String) throws -> [String] {
    try DirectoryHandle(directory).entries()
  }

  static func earlierLogs(in directory: String) throws -> [String] {
    try entries(of: directory).filter { StoreDirectory.epoch(ofEarlierLog: $0) != nil }
  }
}
