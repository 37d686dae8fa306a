import Files

/// A value that has been copied out of a file.
package struct CopiedValue: Sendable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Lends the bytes.
  package func lend<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try bytes.lend(body)
  }
}
