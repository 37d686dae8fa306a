import Files

/// The bytes of a key, for dictionaries.
///
/// An array of bytes is hashed byte by byte; here they are taken eight at a time.
struct ItemKey: Hashable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func == (left: ItemKey, right: ItemKey) -> Bool {
    left.bytes.lend { bytes in right.bytes.lend { bytes.hasSameBytes(as: $0) } }
  }

  func hash(into hasher: inout Hasher) {
    bytes.lend { bytes in
      var offset = 0
      while offset + 8 <= bytes.byteCount {
        hasher.combine(bytes.loadUInt64(at: offset, isBigEndian: false))
        offset += 8
      }
      var rest = UInt64(bytes.byteCount - offset)
      while offset < bytes.byteCount {
        rest = rest << 8 | UInt64(bytes.loadByte(at: offset))
        offset += 1
      }
      hasher.combine(rest)
    }
  }
}
