import StoreEngine

/// A number, or an optional one, that a property can have and that a query can sum up.
public protocol SummableValue: IndexableValue {
  /// The type of sums, which has a larger range than the numbers.
  associatedtype Sum: SummedNumber
  /// The number, or nil for nil.
  var summand: Sum? { get }
}

/// A number type that sums are computed in: `Int`, `UInt64` or `Double`.
public protocol SummedNumber: Comparable, Sendable {
  /// The number 0.
  static var zero: Self { get }
  /// Returns the sum of both numbers, or nil if the type can't represent it.
  func adding(_ other: Self) -> Self?
  /// The nearest floating-point number.
  var approximation: Double { get }
}

extension SummedNumber where Self: FixedWidthInteger {
  /// Returns the sum of both numbers, or nil if it overflows.
  public func adding(_ other: Self) -> Self? {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? nil : sum
  }
  /// The nearest floating-point number.
  public var approximation: Double { Double(self) }
}

extension Int: SummedNumber {}
extension UInt64: SummedNumber {}
extension Double: SummedNumber {
  /// Returns the sum of both numbers.
  public func adding(_ other: Double) -> Double? { self + other }
  /// The number itself.
  public var approximation: Double { self }
}

extension SummableValue where Self: FixedWidthInteger {
  /// The number.
  public var summand: Int? { Int(self) }
}

extension Int8: SummableValue {}
extension Int16: SummableValue {}
extension Int32: SummableValue {}
extension Int64: SummableValue {}
extension Int: SummableValue {}
extension UInt8: SummableValue {}
extension UInt16: SummableValue {}
extension UInt32: SummableValue {}

extension UInt64: SummableValue {
  /// The number.
  public var summand: UInt64? { self }
}

extension UInt: SummableValue {
  /// The number.
  public var summand: UInt64? { UInt64(self) }
}

extension Double: SummableValue {
  /// The number.
  public var summand: Double? { self }
}

extension Float: SummableValue {
  /// The number.
  public var summand: Double? { Double(self) }
}

extension Optional: SummableValue where Wrapped: SummableValue {
  /// The number, or nil for nil.
  public var summand: Wrapped.Sum? { flatMap(\.summand) }
}

/// The count, sum, average and extremes of the numbers that objects have in a property.
///
/// Objects with nil in the property do not count.
public struct QueryNumbers<Sum: SummedNumber>: Equatable, Sendable {
  /// The number of numbers.
  public private(set) var count = 0
  /// The sum of all numbers.
  public private(set) var sum = Sum.zero
  /// The smallest number, or nil if there is none except NaN.
  public private(set) var minimum: Sum?
  /// The greatest number, or nil if there is none except NaN.
  public private(set) var maximum: Sum?

  /// The sum divided by the count, or nil if there are no numbers.
  public var average: Double? { count == 0 ? nil : sum.approximation / Double(count) }

  /// Whether the sum has overflowed.
  private(set) var isTooLarge = false

  @inline(__always)
  mutating func add(_ number: Sum) {
    count += 1
    if let sum = sum.adding(number) { self.sum = sum } else { isTooLarge = true }
    // NaN is neither the minimum nor the maximum.
    guard number == number else { return }
    if minimum.map({ number < $0 }) ?? true { minimum = number }
    if maximum.map({ number > $0 }) ?? true { maximum = number }
  }

  /// Returns the numbers, if the sum is right.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notEvaluable`.
  func checked(_ entry: RegisteredClass) throws(StoreError) -> QueryNumbers {
    guard isTooLarge else { return self }
    throw StoreError(
      .notEvaluable, "The sum is more than \(Sum.self) can hold: add parts, or use Double.",
      at: entry.location())
  }
}

/// The objects that share a value in a property: their count, and their numbers in another.
public struct QueryGroup<Value, Sum: SummedNumber> {
  /// The value that the objects share.
  public let value: Value
  /// The number of objects with the value.
  public internal(set) var count: Int
  /// Their numbers, if you asked for the numbers of a property; otherwise empty.
  public internal(set) var numbers: QueryNumbers<Sum>
}

extension QueryGroup: Sendable where Value: Sendable {}
extension QueryGroup: Equatable where Value: Equatable {}
