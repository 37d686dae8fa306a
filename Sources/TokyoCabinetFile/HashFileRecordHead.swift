/// The fields before the key of a record, without the sizes.
struct HashFileRecordHead {
  let hash: UInt8
  /// The link to greater keys, as in the file.
  let left: UInt64
  let right: UInt64
  let padding: Int
}

extension [UInt8] {
  /// Appends a record (`tchdbwriterec`) of the given size.
  @inline(__always)
  mutating func append(
    _ head: HashFileRecordHead, _ key: RawSpan, _ value: RawSpan, _ layout: HashFileLayout,
    size: Int
  ) {
    append(addingCapacity: size) { (output: inout OutputSpan<UInt8>) in
      unsafe output.withUnsafeMutableBufferPointer { buffer, count in
        let room = UnsafeMutableRawBufferPointer(buffer)
        var location = unsafe HashFileRecordLocation(room, at: count, layout)
        location.put(head, key, value)
        // The rest is padding.
        while location.offset < count + size { location.put(byte: 0) }
        count += size
      }
    }
  }
}

/// A position in memory to which a record is written field by field, with bounds checks.
@safe
private struct HashFileRecordLocation {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var offset: Int
  private let isBig: Bool
  private let isLarge: Bool

  init(_ memory: UnsafeMutableRawBufferPointer, at offset: Int, _ layout: HashFileLayout) {
    unsafe self.memory = memory
    self.offset = offset
    isBig = layout.byteOrder == .big
    isLarge = layout.width == 8
  }

  @inline(__always)
  mutating func put(_ head: HashFileRecordHead, _ key: RawSpan, _ value: RawSpan) {
    put(byte: HashFileFormat.recordMark)
    put(byte: head.hash)
    if isLarge {
      put(number: head.left)
      put(number: head.right)
    } else {
      put(number: UInt32(truncatingIfNeeded: head.left))
      put(number: UInt32(truncatingIfNeeded: head.right))
    }
    put(number: UInt16(head.padding))
    put(size: key.byteCount)
    put(size: value.byteCount)
    put(key)
    put(value)
  }

  @inline(__always)
  mutating func put(byte: UInt8) {
    unsafe memory.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    offset += 1
  }

  @inline(__always)
  private mutating func put<Number: FixedWidthInteger & BitwiseCopyable>(number: Number) {
    let bits = isBig ? number.bigEndian : number.littleEndian
    unsafe memory.storeBytes(of: bits, toByteOffset: offset, as: Number.self)
    offset += Number.bitWidth / 8
  }

  /// Writes a size with seven bits per byte, low bits first; all bytes but the last are inverted.
  @inline(__always)
  private mutating func put(size: Int) {
    var rest = size
    while rest >= 0x80 {
      put(byte: ~UInt8(truncatingIfNeeded: rest & 0x7F))
      rest >>= 7
    }
    put(byte: UInt8(truncatingIfNeeded: rest))
  }

  @inline(__always)
  private mutating func put(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes {
      let target = unsafe UnsafeMutableRawBufferPointer(
        rebasing: memory[offset..<offset + $0.count])
      unsafe target.copyMemory(from: $0)
    }
    offset += bytes.byteCount
  }
}
