// Converting a signaling NaN between the two widths makes it a quiet one.

extension Double {
  /// Creates the same number; a NaN keeps its bits.
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
  /// Creates the nearest number; a NaN that was converted from a `Float` keeps its bits.
  init(keepingBitsOf number: Double) {
    let significand = UInt32(truncatingIfNeeded: number.significandBitPattern >> 29)
    guard number.isNaN, significand != 0 else {
      self.init(number)
      return
    }
    self.init(bitPattern: UInt32(number.bitPattern >> 63) << 31 | 0xFF << 23 | significand)
  }
}
