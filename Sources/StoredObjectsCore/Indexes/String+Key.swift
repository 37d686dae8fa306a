import StoreEngine
// The normalisation that Swift's own comparison of strings uses.
@_spi(_Unicode) import Swift

extension String: IndexableValue {
  /// Appends the text in the order of `<`, where an é in one scalar and in two are the same.
  ///
  /// That is the order of the scalars of normalisation form C. The few characters that are only
  /// another number for a letter (the Ångström sign for Å) are that letter here, always; `<`
  /// compares them now so and now so.
  public func writeKey(to key: inout IndexKey) {
    var copy = self
    let isNormal = copy.withUTF8 { utf8 in
      // Scalars below U+0300, whose first byte is less than this, are normal as they are.
      guard unsafe utf8.allSatisfy({ $0 > 1 && $0 < 0xCC }) else { return false }
      unsafe key.bytes.append(contentsOf: utf8)
      key.bytes.append(0)
      return true
    }
    if !isNormal { key.write(text: keyText) }
  }

  /// The text in UTF-8, normalised.
  private var keyText: [UInt8] {
    var text = String.UnicodeScalarView()
    for scalar in _nfc { text.append(scalar) }
    return Array(String(text).utf8)
  }
}
