import Foundation
import StoredObjectsCore
import Testing

@Suite("Keys of indexes") struct IndexKeyTests {
  @Test("Keys have the order of their values, and equal values have equal keys")
  func keyOrder() {
    func key(_ value: some IndexableValue) -> [UInt8] {
      var key = IndexKey()
      value.writeKey(to: &key)
      return key.bytes
    }
    func check<Value: IndexableValue & Comparable>(_ values: [Value]) {
      for left in values {
        for right in values {
          #expect(
            (left < right) == key(left).lexicographicallyPrecedes(key(right)), "\(left) \(right)")
          #expect((left == right) == (key(left) == key(right)), "\(left) \(right)")
        }
      }
    }
    check([Int8.min, -1, 0, 1, .max])
    check([Int16.min, -256, -1, 0, 255, .max])
    check([Int32.min, -1, 0, 1, 65_536, .max])
    check([Int64.min, -1, 0, 1, 1 << 40, .max])
    check([Int.min, -1, 0, 1, .max])
    check([UInt8.min, 127, 128, .max])
    check([UInt16.min, 255, 256, .max])
    check([UInt32.min, 255, 256, .max])
    check([UInt64.min, 255, 256, .max])
    check([UInt.min, 255, .max])
    check([-Double.infinity, -1.5, -0.0, 0, .leastNonzeroMagnitude, 1, .infinity])
    check([-Float.infinity, -1.5, -0.0, 0, .leastNonzeroMagnitude, 1, .infinity])
    check(["", "\u{0}", "\u{1}", "a", "a\u{0}", "ab", "e\u{301}", "é", "z", "中", "\u{FFFF}", "😀"])
    check(
      [
        "-79228162514264337593543950335", "-10", "-9.5", "-1.05", "-1", "-0.01", "0", "0.000001",
        "0.01", "0.1", "0.15", "1", "1.5", "2", "10", "10.01", "99", "100", "1e30", "1e-30",
      ].compactMap { Decimal(string: $0) } + [.nan])
    #expect(key(Decimal(1)) == key(Decimal(sign: .plus, exponent: -2, significand: 100)))
    let urls = ["a", "b", "http://a/b", "http://a/b?c=d"].compactMap { URL(string: $0) }
    for left in urls + urls.compactMap({ URL(string: "a", relativeTo: $0) }) {
      for right in urls + urls.compactMap({ URL(string: "a", relativeTo: $0) }) {
        #expect((left == right) == (key(left) == key(right)), "\(left) \(right)")
      }
    }
    check([-1, 0, 1.5].map { Date(timeIntervalSinceReferenceDate: $0) })
    #expect(
      key(Double.nan) == key(-Double.nan)
        && key(Double.infinity).lexicographicallyPrecedes(key(Double.nan)))
    #expect(key(false).lexicographicallyPrecedes(key(true)))
    #expect(key(Optional<Int>.none).lexicographicallyPrecedes(key(Optional<Int>.some(.min))))
    #expect(key(Data()).lexicographicallyPrecedes(key(Data([0]))))
    #expect(key(Data([0, 0])).lexicographicallyPrecedes(key(Data([1]))))
  }
}
