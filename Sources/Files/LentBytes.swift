// Bytes are lent as `RawSpan`, which can't be kept. The few steps between it and arrays that the
// language still calls unsafe stand here.

extension [UInt8] {
  /// Copies bytes that are lent.
  @inlinable
  package init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Appends a copy of bytes that are lent.
  @inlinable
  package mutating func append(copying bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// Lends the bytes.
  @inlinable
  package func lend<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }

  /// Lends some of the bytes.
  @inlinable
  package func lend<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes.extracting(range))
  }
}

extension RawSpan {
  /// The first byte, or nil.
  @inlinable package var firstByte: UInt8? {
    isEmpty ? nil : unsafe unsafeLoad(fromByteOffset: 0, as: UInt8.self)
  }
}
