extension String {
  /// Creates a string from 4 to 15 ASCII bytes, which Swift keeps inline; nil for other bytes.
  ///
  /// Most strings are such. Testing and copying them as two overlapping words takes a third of the
  /// time of full UTF-8 validation.
  @inlinable @inline(__always)
  init?(shortASCII text: Span<UInt8>) {
    let bytes = unsafe text.bytes
    let count = bytes.byteCount
    if count >= 8, count <= 15 {
      let first = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
      let last = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      guard (first | last) & 0x8080_8080_8080_8080 == 0 else { return nil }
      self.init(count, first, last)
    } else if count >= 4, count < 8 {
      let first = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let last = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      guard (first | last) & 0x8080_8080 == 0 else { return nil }
      self.init(count, first, last)
    } else {
      return nil
    }
  }

  /// Creates a string from its number of bytes, its first word and its last word.
  @inlinable @inline(__always)
  package init<Word: FixedWidthInteger & BitwiseCopyable>(_ count: Int, _ first: Word, _ last: Word)
  {
    unsafe self.init(unsafeUninitializedCapacity: count) { memory in
      let bytes = UnsafeMutableRawBufferPointer(memory)
      unsafe bytes.storeBytes(of: first, as: Word.self)
      unsafe bytes.storeBytes(of: last, toByteOffset: count - Word.bitWidth / 8, as: Word.self)
      return count
    }
  }
}
