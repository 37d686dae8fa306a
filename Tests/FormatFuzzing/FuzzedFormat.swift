import CDB
import StoreFormats
package import StoredObjectsTestSupport

/// A file format whose reader is tried with damaged files.
package protocol FuzzedFormat: Sendable {
  /// The name on the command line.
  var name: String { get }
  /// How long a reading may take.
  var limit: Duration { get }
  /// A file that is sound, small, and of some layout or other.
  func makeFile(_ random: inout SeededGenerator) throws -> [UInt8]
  /// Where numbers are that the reader goes by.
  func fields(of file: [UInt8]) -> [Range<Int>]
  /// Reads all that can be read; whether the file was taken for sound.
  ///
  /// What the reader says of the file in errors of its own is no failure. A failure is thrown: when
  /// the reader contradicts itself.
  func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool
}

extension FuzzedFormat {
  package var limit: Duration { .seconds(1) }

  /// Reads bytes as ``read(_:_:)`` does, the same way each time.
  @discardableResult
  package func read(_ file: [UInt8]) throws -> Bool {
    // What is looked up depends on the bytes alone, so that a find can be had again.
    var random = SeededGenerator(seed: file.reduce(0) { $0 &* 31 &+ UInt64($1) })
    return try read(file, &random)
  }
}

/// A reader did what none may do.
package struct FuzzFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// The formats there are.
package let fuzzedFormats: [any FuzzedFormat] = [
  FuzzedHashFile(), FuzzedCDB(.classic), FuzzedCDB(.wide), FuzzedOrderedFile(), FuzzedKeyFile(),
  FuzzedSealedStore(.tokyoCabinet), FuzzedSealedStore(.cdb),
]
