extension RawSpan {
  /// One of the bytes, so that the span is really read.
  @inlinable @inline(__always)
  package func byte(at offset: Int) -> Int { Int(Span<UInt8>(_bytes: self)[offset]) }
}
