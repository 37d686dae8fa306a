#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension RawSpan {
  /// Whether both spans contain equal bytes.
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
  /// Does the same for up to 7 bytes, which is faster than a function call.
  @inline(__always)
  private func hasSameFewBytes(as other: RawSpan) -> Bool {
    for offset in 0..<byteCount where loadByte(at: offset) != other.loadByte(at: offset) {
      return false
    }
    return true
  }
}

extension RawSpan {
  /// Compares the bytes as `memcmp` does; a span precedes those that it is a prefix of.
  ///
  /// - Returns: A number below, above or equal to zero.
  package func compare(_ other: RawSpan) -> Int {
    let count = Swift.min(byteCount, other.byteCount)
    let order = unsafe withUnsafeBytes { bytes in
      unsafe other.withUnsafeBytes { others in
        guard let start = bytes.baseAddress, let other = others.baseAddress else { return Int32(0) }
        return unsafe memcmp(start, other, count)
      }
    }
    return order != 0 ? Int(order) : byteCount - other.byteCount
  }

  /// Returns the length of the common prefix.
  package func commonPrefixCount(_ other: RawSpan) -> Int {
    let count = Swift.min(byteCount, other.byteCount)
    var position = 0
    while position + 8 <= count {
      let difference =
        loadUInt64(at: position, isBigEndian: false)
        ^ other.loadUInt64(at: position, isBigEndian: false)
      if difference != 0 { return position + difference.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < count, loadByte(at: position) == other.loadByte(at: position) { position += 1 }
    return position
  }
}

extension RawSpan {
  /// Returns the first eight of some bytes as a number with the same order; missing bytes are zero.
  ///
  /// Of two keys with different heads, the one with the smaller head comes first.
  @inlinable @inline(__always)
  package func head(at start: Int, count: Int) -> UInt64 {
    if start <= byteCount &- 8 {
      let head = loadUInt64(at: start, isBigEndian: true)
      return count >= 8 ? head : head & ~(UInt64.max &>> UInt64(truncatingIfNeeded: 8 &* count))
    }
    var head: UInt64 = 0
    for position in 0..<Swift.min(count, 8) {
      head |= UInt64(loadByte(at: start + position)) << UInt64(56 - 8 * position)
    }
    return head
  }

  /// The head of all bytes.
  @inlinable @inline(__always)
  package var head: UInt64 { head(at: 0, count: byteCount) }

  /// A hash of the bytes with a random seed per process, so that nobody can prepare collisions.
  ///
  /// Complexity: linear, eight bytes per step.
  package var keyHash: UInt64 { keyHash(seed: 0) }

  /// The same with another seed in addition, such as that of a hash table.
  package func keyHash(seed: UInt64) -> UInt64 { storedHash(seed: KeyHash.seed ^ seed) }

  /// A hash of the bytes that is the same in every process, for filters in files.
  ///
  /// Complexity: linear, eight bytes per step.
  package func storedHash(seed: UInt64) -> UInt64 {
    var hash = seed ^ UInt64(byteCount)
    var position = 0
    while position + 8 <= byteCount {
      hash = KeyHash.mix(hash ^ loadUInt64(at: position, isBigEndian: false))
      position += 8
    }
    if position < byteCount {
      hash = KeyHash.mix(hash ^ head(at: position, count: byteCount - position))
    }
    return KeyHash.mix(hash ^ 0xD6E8_FEB8_6659_FD93)
  }
}

private enum KeyHash {
  static let seed = UInt64.random(in: 0 ... .max)

  /// Spreads each bit over all others, by a product of twice the width.
  @inline(__always)
  static func mix(_ number: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

extension [UInt8] {
  /// Appends an integer, least significant byte first.
  @inlinable
  package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    let count = MemoryLayout<Number>.size
    append(addingCapacity: count) { target in
      unsafe target.withUnsafeMutableBufferPointer { target, initializedCount in
        unsafe UnsafeMutableRawBufferPointer(target).storeBytes(
          of: number.littleEndian, as: Number.self)
        initializedCount = count
      }
    }
  }

  /// Appends an integer, most significant byte first, as in keys.
  @inlinable
  package mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    append(littleEndian: number.byteSwapped)
  }
}

extension UInt64 {
  /// Calls a closure with the bytes, least significant first.
  @inlinable
  package func lendLittleEndian<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let words: InlineArray<1, UInt64> = [littleEndian]
    // An integer has no padding, so all of its bytes are initialized.
    return try body(unsafe words.span.bytes)
  }
}

extension String {
  /// Calls a closure with the UTF-8 bytes.
  @inlinable
  package func lendUTF8<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var copy = self
    let result = copy.withUTF8 { bytes in
      Swift.Result { () throws(Failure) in try unsafe body(UnsafeRawBufferPointer(bytes).bytes) }
    }
    return try result.get()
  }
}
