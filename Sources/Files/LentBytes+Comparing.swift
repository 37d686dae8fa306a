#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension RawSpan {
  /// Whether both lend the same bytes, or copies of them.
  package func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    if byteCount < 8 { return hasSameFewBytes(as: other) }
    return unsafe withUnsafeBytes { bytes in
      unsafe other.withUnsafeBytes { others in
        guard let start = bytes.baseAddress, let other = others.baseAddress else { return true }
        return unsafe memcmp(start, other, bytes.count) == 0
      }
    }
  }
}

extension RawSpan {
  /// The same for up to 7 bytes, which take less time than a call.
  @inline(__always)
  private func hasSameFewBytes(as other: RawSpan) -> Bool {
    for offset in 0..<byteCount where loadByte(at: offset) != other.loadByte(at: offset) {
      return false
    }
    return true
  }
}

extension [UInt8] {
  /// Appends an integer with its least significant byte first.
  @inlinable
  package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }
}

extension UInt32 {
  /// Lends the bytes, the least significant first.
  @inlinable
  package func lendLittleEndian<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes: InlineArray<4, UInt8> = [
      UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8),
      UInt8(truncatingIfNeeded: self >> 16), UInt8(truncatingIfNeeded: self >> 24),
    ]
    // A byte has no padding, so that its bytes are all initialised.
    return try body(unsafe bytes.span.bytes)
  }
}

extension String {
  /// Lends the UTF-8 bytes.
  @inlinable
  package func lendUTF8<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    var copy = self
    return try copy.withUTF8 { try unsafe body(UnsafeRawBufferPointer($0).bytes) }
  }
}
