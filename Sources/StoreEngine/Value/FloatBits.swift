// A conversion between the two widths makes a signalling NaN a quiet one.

extension Double {
  /// The same number, and of a NaN the same bits.
  init(keepingBitsOf number: Float) {
    guard number.isNaN else {
      self.init(number)
      return
    }
    let (sign, significand) = (
      UInt64(number.bitPattern >> 31), UInt64(number.significandBitPattern)
    )
    self.init(bitPattern: sign << 63 | 0x7FF << 52 | significand << 29)
  }
}

extension Float {
  /// The nearest number, and of a NaN that was made of a `Float` the same bits.
  init(keepingBitsOf number: Double) {
    let significand = UInt32(truncatingIfNeeded: number.significandBitPattern >> 29)
    guard number.isNaN, significand != 0 else {
      self.init(number)
      return
    }
    self.init(bitPattern: UInt32(number.bitPattern >> 63) << 31 | 0xFF << 23 | significand)
  }
}
