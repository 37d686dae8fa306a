import Files
public import FoundationEssentials
import StoreEngine

extension URL: IndexableValue {
  /// Appends the text of the URL and of its base URL.
  public func writeKey(to key: inout IndexKey) {
    relativeString.writeKey(to: &key)
    baseURL?.absoluteString.writeKey(to: &key)
    key.bytes.append(0)
  }
}

extension Decimal: IndexableValue {
  /// Appends the number; equal numbers have the same key, regardless of trailing zeros.
  ///
  /// NaN comes before all other numbers.
  public func writeKey(to key: inout IndexKey) {
    if isNaN { return key.bytes.append(0) }
    if isZero { return key.bytes.append(2) }
    let (exponent, digits) = scientific
    // Every exponent is smaller than 300 in magnitude, so the sum is positive.
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt32(exponent + 300))
    // The terminator 0 is less than all digits, which are incremented.
    bytes += digits.map { $0 + 1 } + [0]
    let isNegative = sign == .minus
    key.bytes.append(isNegative ? 1 : 3)
    key.bytes += isNegative ? bytes.map { ~$0 } : bytes
  }

  /// The digits behind "0.", without zeros at either end, and the exponent to the base 10.
  private var scientific: (exponent: Int, digits: [UInt8]) {
    let parts = "\(magnitude)".split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts[0].utf8.drop { $0 == 0x30 }
    let fraction = parts.count > 1 ? Array(parts[1].utf8) : []
    let zeros = whole.isEmpty ? fraction.prefix { $0 == 0x30 }.count : 0
    var digits = (Array(whole) + fraction.dropFirst(zeros)).map { $0 - 0x30 }
    while digits.last == 0 { digits.removeLast() }
    return (whole.count - zeros, digits)
  }
}
