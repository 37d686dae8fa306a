// The one place, besides the C handle, where bytes of an array become a span.

/// Lends some bytes of an array where they are.
@inline(__always)
func lend<Result>(
  _ bytes: [UInt8], _ range: Range<Int>, _ body: (RawSpan) throws -> Result
) rethrows -> Result {
  // A byte has no padding, so that its bytes are all initialised.
  try body(unsafe bytes.span.bytes.extracting(range))
}

/// Lends the bytes of an array where they are.
@inline(__always)
func lend<Result>(_ bytes: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try body(unsafe bytes.span.bytes)
}

/// Copies lent bytes.
func copied(_ bytes: RawSpan) -> [UInt8] {
  unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
}

/// A value that has been copied out of a file.
package struct CopiedValue: Sendable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Lends the bytes.
  package func lend<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try TokyoCabinet.lend(bytes, body)
  }
}
