import CDB
import StoreFormats
package import StoredObjectsTestSupport

/// A file format whose reader is tested with damaged files.
package protocol FuzzedFormat: Sendable {
  /// The name on the command line.
  var name: String { get }
  /// The maximum time of a read.
  var limit: Duration { get }
  /// Returns a small sound file with a random layout.
  func makeFile(_ random: inout SeededGenerator) throws -> [UInt8]
  /// Returns the ranges of the numbers that the reader depends on.
  func fields(of file: [UInt8]) -> [Range<Int>]
  /// Reads everything that can be read, and returns whether the file was considered sound.
  ///
  /// Errors that the reader reports about the file are no failure. A failure is thrown if the
  /// reader contradicts itself.
  func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool
}

extension FuzzedFormat {
  package var limit: Duration { .seconds(1) }

  /// Reads bytes as ``read(_:_:)`` does, the same way each time.
  @discardableResult
  package func read(_ file: [UInt8]) throws -> Bool {
    // The look-ups depend on the bytes alone, so that a finding can be reproduced.
    var random = SeededGenerator(seed: file.reduce(0) { $0 &* 31 &+ UInt64($1) })
    return try read(file, &random)
  }
}

/// An error of a reader that violated its contract.
package struct FuzzFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// All formats.
package let fuzzedFormats: [any FuzzedFormat] = [
  FuzzedHashFile(), FuzzedCDB(.classic), FuzzedCDB(.wide), FuzzedOrderedFile(), FuzzedKeyFile(),
  FuzzedSealedStore(.tokyoCabinet), FuzzedSealedStore(.cdb),
]
