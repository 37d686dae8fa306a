import StoreEngine

/// A number that a property may have, or an optional one: what sums and averages are made of.
public protocol SummableValue: IndexableValue {
  /// The type of sums, which holds more than the numbers.
  associatedtype Sum: SummedNumber
  /// The number; nil for nil.
  var summand: Sum? { get }
}

/// A number that sums are made in: `Int`, `UInt64` or `Double`.
public protocol SummedNumber: Comparable, Sendable {
  /// Nothing.
  static var zero: Self { get }
  /// Returns the sum of both; nil if there is no such number.
  func adding(_ other: Self) -> Self?
  /// The nearest floating-point number.
  var approximation: Double { get }
}

extension SummedNumber where Self: FixedWidthInteger {
  /// Returns the sum of both; nil if it is too large.
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
  /// Returns the sum of both.
  public func adding(_ other: Double) -> Double? { self + other }
  /// The number.
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
  /// The number; nil for nil.
  public var summand: Wrapped.Sum? { flatMap(\.summand) }
}

/// The sum, the average and the ends of the numbers that objects have in a property.
///
/// Objects with nil in the property do not count.
public struct QueryNumbers<Sum: SummedNumber>: Equatable, Sendable {
  /// How many numbers there are.
  public private(set) var count = 0
  /// The sum of all numbers.
  public private(set) var sum = Sum.zero
  /// The smallest number; nil if there is none but NaN.
  public private(set) var minimum: Sum?
  /// The greatest number; nil if there is none but NaN.
  public private(set) var maximum: Sum?

  /// The sum, divided by the count; nil if there is no number.
  public var average: Double? { count == 0 ? nil : sum.approximation / Double(count) }

  /// Whether a number was added that the sum can't hold.
  private(set) var isTooLarge = false

  @inline(__always)
  mutating func add(_ number: Sum) {
    count += 1
    if let sum = sum.adding(number) { self.sum = sum } else { isTooLarge = true }
    // What is not equal to itself is neither.
    guard number == number else { return }
    if minimum.map({ number < $0 }) ?? true { minimum = number }
    if maximum.map({ number > $0 }) ?? true { maximum = number }
  }

  /// The numbers, if the sum is right.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notEvaluable`.
  func checked(_ entry: RegisteredClass) throws(StoreError) -> QueryNumbers {
    guard isTooLarge else { return self }
    throw StoreError(
      .notEvaluable, "The sum is more than \(Sum.self) can hold: add parts, or use Double.",
      at: entry.location())
  }
}

/// The objects that have one value in a property: how many they are, and their numbers in another.
public struct QueryGroup<Value, Sum: SummedNumber> {
  /// The value that they share.
  public let value: Value
  /// How many objects have the value.
  public internal(set) var count: Int
  /// Their numbers, where a property of numbers was asked for; none otherwise.
  public internal(set) var numbers: QueryNumbers<Sum>
}

extension QueryGroup: Sendable where Value: Sendable {}
extension QueryGroup: Equatable where Value: Equatable {}
