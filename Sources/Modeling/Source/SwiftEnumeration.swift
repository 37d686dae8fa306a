import StoredObjectsCore

/// An enumeration that can be written as an `enum` with raw values.
struct SwiftEnumeration {
  let cases: [(name: String, literal: String)]
  /// Whether the store finds the cases, in their order, only if the type lists them.
  let listsCases: Bool

  /// Creates an enumeration; returns nil if the names of the cases are unknown, or raw values have
  /// no literals.
  init?(_ enumeration: StoredEnumeration) {
    var names = SwiftNames(reserved: [])
    var known: Set<[UInt8]> = []
    var cases: [(String, String)] = []
    var integers: [Int128?] = []
    for item in enumeration.cases where known.insert(item.bytes).inserted {
      guard let literal = item.literal(enumeration.rawType) else { return nil }
      cases.append((names.add(item.name), literal))
      integers.append(Int128(literal))
    }
    guard !cases.isEmpty else { return nil }
    self.cases = cases
    let numbers = integers.compactMap(\.self)
    let areAscending = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    // For other types, the store tries raw values from -128 to 255, in this order.
    let areSmall = numbers.count == cases.count && numbers.allSatisfy { (-128...255).contains($0) }
    listsCases = !(areAscending && areSmall)
  }
}
