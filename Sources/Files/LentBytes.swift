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
  package func lend<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try unsafe body(span.bytes)
  }

  /// Lends some of the bytes.
  @inlinable
  package func lend<Result>(
    _ range: Range<Int>, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    try unsafe body(span.bytes.extracting(range))
  }
}

extension RawSpan {
  /// The first byte, or nil.
  @inlinable package var firstByte: UInt8? {
    isEmpty ? nil : unsafe unsafeLoad(fromByteOffset: 0, as: UInt8.self)
  }
}

extension ArraySlice<UInt8> {
  /// Whether there is nothing but zeros, seen eight bytes at a time.
  package var isAllZero: Bool {
    unsafe withUnsafeBytes { bytes in
      var index = 0
      while index + 8 <= bytes.count {
        if unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
        index += 8
      }
      return unsafe bytes[index...].allSatisfy { $0 == 0 }
    }
  }
}
