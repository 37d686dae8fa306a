import StoredObjectsCore

// Bytes as the tests show them: two hexadecimal digits each, blanks wherever they help.

extension DataBuffer {
  /// A buffer that reads these bytes.
  init(hex: String) {
    let digits = hex.compactMap(\.hexDigitValue)
    precondition(digits.count.isMultiple(of: 2), "A byte has two digits: \(hex)")
    let starts = stride(from: 0, to: digits.count, by: 2)
    self.init(starts.map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
  }

  /// The bytes of the buffer, as in "2A 01".
  var hex: String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
      .joined(separator: " ").uppercased()
  }

  /// A buffer that reads what the closure has written.
  static func holding(_ write: (inout DataBuffer) -> Void) -> DataBuffer {
    var buffer = DataBuffer()
    write(&buffer)
    return DataBuffer(buffer.bytes)
  }

  /// The error of reading bytes, as in "endOfBuffer at 4", or "nothing".
  static func fault(
    in hex: String, _ read: (inout DataBuffer) throws(DataBufferError) -> Void
  ) -> String {
    var buffer = DataBuffer(hex: hex)
    do {
      try read(&buffer)
      return "nothing"
    } catch {
      return "\(error.code) at \(error.offset)"
    }
  }
}
