extension RawSpan {
  /// One of the bytes, to have looked at it.
  @inlinable @inline(__always)
  package func byte(at offset: Int) -> Int { Int(Span<UInt8>(_bytes: self)[offset]) }
}
