import StoreEngine
// The normalization that Swift's own comparison of strings uses.
@_spi(_Unicode) import Swift

extension String: IndexableValue {
  /// Appends the text in the order of `<`, in which é as one scalar equals é as two scalars.
  ///
  /// This is the order of the scalars in Normalization Form C. The few characters that are only
  /// another code for a letter (the Ångström sign for Å) always equal that letter here; `<`
  /// compares them inconsistently.
  public func writeKey(to key: inout IndexKey) {
    var copy = self
    let isNormal = copy.withUTF8 { utf8 in
      // Scalars below U+0300, whose first byte is less than 0xCC, are already normal.
      guard unsafe utf8.allSatisfy({ $0 > 1 && $0 < 0xCC }) else { return false }
      unsafe key.bytes.append(contentsOf: utf8)
      key.bytes.append(0)
      return true
    }
    if !isNormal { key.write(text: keyText) }
  }

  /// The normalized text in UTF-8.
  private var keyText: [UInt8] {
    var text = String.UnicodeScalarView()
    for scalar in _nfc { text.append(scalar) }
    return Array(String(text).utf8)
  }
}
