import TestFiles

@testable import StoreEngine

/// The file of a commit log, on a disk that fails and loses power when a test says so.
final class TestLog {
  private static let name = "Commit.log"

  let disk: CrashingDirectory
  let file: StoreFile

  private init(on disk: CrashingDirectory) throws {
    self.disk = disk
    file = try StoreFile(disk.file(Self.name), writable: true)
  }

  /// Makes a file whose content is durable.
  convenience init(_ content: [UInt8] = []) throws {
    try self.init(on: CrashingDirectory(files: [Self.name: content]))
  }

  /// The content that programs see.
  var content: [UInt8] { get throws { try file.read(file.size(), at: 0) } }

  /// Writes without syncing.
  func write(_ bytes: [UInt8], at offset: Int) throws { try file.write(bytes, at: offset) }

  /// The log after the power has come back.
  func afterPowerCut(using generator: inout some RandomNumberGenerator) throws -> TestLog {
    try TestLog(on: disk.afterPowerCut(using: &generator))
  }

  /// Runs a closure while a byte is another one.
  func spoiling<Result>(_ offset: Int, _ body: (TestLog) throws -> Result) throws -> Result {
    try LogFixture.flip(self, at: offset)
    let result = try body(self)
    try LogFixture.flip(self, at: offset)
    return result
  }
}
