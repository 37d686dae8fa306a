internal import CZlib

/// Raw Deflate through zlib, as Tokyo Cabinet uses it (`_TCZMRAW` of tcutil.c).
enum Deflate {
  /// The level and the memory level that Tokyo Cabinet uses.
  private static let (level, memoryLevel): (Int32, Int32) = (5, 7)
  /// Negative for data without a header and a checksum.
  private static let windowBits: Int32 = -15
  private static let chunk = 4096

  /// Decompresses a value; nil if it is damaged, truncated, or larger than the limit.
  static func inflated(_ bytes: RawSpan, limit: Int) -> [UInt8]? {
    unsafe bytes.withUnsafeBytes { (source) -> [UInt8]? in
      var stream = unsafe z_stream()
      let size = unsafe Int32(MemoryLayout<z_stream>.size)
      guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
        return nil
      }
      defer { unsafe _ = inflateEnd(&stream) }
      return unsafe run(&stream, source, limit: limit) { unsafe inflate($0, Z_NO_FLUSH) }
    }
  }

  /// Compresses a value; nil if there is no memory.
  static func deflated(_ bytes: RawSpan) -> [UInt8]? {
    unsafe bytes.withUnsafeBytes { (source) -> [UInt8]? in
      var stream = unsafe z_stream()
      let size = unsafe Int32(MemoryLayout<z_stream>.size)
      let isReady =
        unsafe deflateInit2_(
          &stream, level, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
          size)
        == Z_OK
      guard isReady else { return nil }
      defer { unsafe _ = deflateEnd(&stream) }
      return unsafe run(&stream, source, limit: .max) { unsafe deflate($0, Z_FINISH) }
    }
  }

  /// Passes all bytes to a stream, and collects its output until the stream ends.
  private static func run(
    _ stream: inout z_stream, _ source: UnsafeRawBufferPointer, limit: Int,
    _ step: (z_streamp) -> Int32
  ) -> [UInt8]? {
    guard let count = UInt32(exactly: source.count) else { return nil }
    // zlib only reads from this pointer, although its type is mutable.
    unsafe stream.next_in = UnsafeMutablePointer(
      mutating: source.bindMemory(to: UInt8.self).baseAddress)
    unsafe stream.avail_in = count
    var result: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: chunk)
    while result.count <= limit {
      let status = unsafe piece.withUnsafeMutableBufferPointer { piece in
        unsafe stream.next_out = piece.baseAddress
        unsafe stream.avail_out = UInt32(piece.count)
        return unsafe step(&stream)
      }
      let made = unsafe chunk - Int(stream.avail_out)
      result += piece[..<made]
      if status == Z_STREAM_END { return result.count <= limit ? result : nil }
      guard status == Z_OK, made > 0 else { return nil }
    }
    return nil
  }
}
