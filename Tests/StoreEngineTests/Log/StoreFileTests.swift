import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine

@Suite("A file written without the page cache")
struct StoreFileTests {
  /// A file of a megabyte of zeros, as the commit log sets it aside.
  private static func withFile(_ body: (StoreFile, _ path: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      let storage = try StoreFile(path, writable: true)
      defer { storage.close() }
      try storage.resize(to: 1 << 20)
      try storage.synchronize()
      try body(storage, path)
    }
  }

  @Test("Consecutive bytes are read as they were written, by any reader")
  func appends() throws {
    var generator = Seeds.generator(for: "writing through")
    try Self.withFile { storage, path in
      var expected = [UInt8](repeating: 7, count: 4096)
      try storage.write(expected, at: 0)
      while expected.count < 700_000 {
        let count = Int.random(
          in: 1...(Bool.random(using: &generator) ? 300 : 20_000), using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // Now and then somebody writes the ordinary way.
        let isDone =
          try Int.random(in: 0..<8, using: &generator) > 0
          && storage.writeThrough(bytes, at: expected.count)
        if !isDone { try storage.write(bytes, at: expected.count) }
        expected += bytes
        #expect(try storage.read(300, at: expected.count - count).starts(with: bytes.prefix(300)))
      }
      let all = try storage.read(1 << 20, at: 0)
      #expect(all.starts(with: expected))
      #expect(all.dropFirst(expected.count).allSatisfy { $0 == 0 })
      #expect(try Data(contentsOf: URL(filePath: path)).elementsEqual(all))
    }
  }

  @Test("Writing again at an earlier offset replaces the bytes there, and nothing before")
  func rewriting() throws {
    try Self.withFile { storage, _ in
      guard try storage.writeThrough([1, 2, 3, 4], at: 5000) else {
        try Test.cancel("this file system has no direct writes")
      }
      #expect(try storage.writeThrough([9], at: 5002))
      #expect(try storage.read(6, at: 4999) == [0, 1, 2, 9, 0, 0])
      #expect(try storage.writeThrough([8], at: 4096))
      #expect(try storage.read(1, at: 4096) == [8])
    }
  }

  @Test("A file that has lost its name is not written to")
  func removed() throws {
    try Self.withFile { storage, path in
      _ = try storage.writeThrough([1], at: 4096)
      try FileManager.default.removeItem(atPath: path)
      #expect(throws: StoreError.self) { try storage.writeThrough([2], at: 4097) }
      #expect(throws: StoreError.self) { try storage.write([2], at: 4097) }
    }
  }
}
