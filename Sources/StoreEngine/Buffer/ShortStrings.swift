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

  /// Creates a string from its number of ASCII bytes, 4 to 15, its first word and its last word.
  @inlinable @inline(__always)
  package init<Word: FixedWidthInteger & BitwiseCopyable & UnsignedInteger>(
    _ count: Int, _ first: Word, _ last: Word
  ) {
    if ShortStringForm.isKnown {
      let words = ShortStringForm.words(count, first, last)
      self = ""
      // Not a cast, which would count a reference.
      unsafe withUnsafeMutableBytes(of: &self) { memory in
        unsafe memory.storeBytes(of: words, as: ShortStringForm.Words.self)
      }
    } else {
      unsafe self.init(unsafeUninitializedCapacity: count) { memory in
        let bytes = UnsafeMutableRawBufferPointer(memory)
        unsafe bytes.storeBytes(of: first, as: Word.self)
        unsafe bytes.storeBytes(of: last, toByteOffset: count - Word.bitWidth / 8, as: Word.self)
        return count
      }
    }
  }
}

/// The two words in which Swift keeps a string of up to 15 bytes (`_StringObject` of its library).
///
/// The bytes are in order, and the last one has the count and 0xE0 for ASCII. Making the words takes
/// a tenth of the time of the initializer, which is called for each string of each object.
@usableFromInline enum ShortStringForm {
  @usableFromInline typealias Words = (first: UInt64, last: UInt64)

  /// Whether this library keeps them so.
  ///
  /// The compiler finds out.
  @inlinable @inline(__always) static var isKnown: Bool {
    guard MemoryLayout<String>.size == MemoryLayout<Words>.size else { return false }
    let sample = unsafe unsafeBitCast("0123456789ab", to: Words.self)
    let expected = words(12, 0x3736_3534_3332_3130 as UInt64, 0x6261_3938_3736_3534)
    return sample.first == expected.first && sample.last == expected.last
  }

  @inlinable @inline(__always)
  static func words<Word: FixedWidthInteger & UnsignedInteger>(
    _ count: Int, _ first: Word, _ last: Word
  ) -> Words {
    let mark = UInt64(0xE0 | count) << 56
    if Word.bitWidth == 64 {
      return (
        UInt64(first.littleEndian), mark | UInt64(last.littleEndian) >> UInt64(8 * (16 - count))
      )
    }
    return (UInt64(first.littleEndian) | UInt64(last.littleEndian) << UInt64(8 * (count - 4)), mark)
  }
}
