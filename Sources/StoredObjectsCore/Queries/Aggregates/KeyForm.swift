import FoundationEssentials
import StoreEngine

/// The form of a value in a key, which is enough to skip it without reading it.
enum KeyForm {
  case fixed(Int)
  /// Bytes that end in a zero.
  case text
  indirect case optional(KeyForm)
  /// A value whose end only its own code can find.
  case custom((inout KeyReader) -> Bool)

  /// Creates the form of a type, or returns nil if its keys can't be read.
  init?(_ type: Any.Type) {
    if let optional = type as? any OptionalKey.Type {
      guard let wrapped = KeyForm(optional.wrappedType) else { return nil }
      self = .optional(wrapped)
    } else if type == String.self || type == Data.self || type == FoldedString.self {
      self = .text
    } else if let number = NumberForm(type) {
      self = .fixed(number.byteCount)
    } else if type is StoredObject.Type {
      self = .fixed(5)
    } else if let known = type as? any IndexableValue.Type, let skip = Self.skipping(known) {
      self = .custom(skip)
    } else {
      return nil
    }
  }

  private static func skipping<Known: IndexableValue>(
    _ type: Known.Type
  ) -> ((inout KeyReader) -> Bool)? {
    keyReading(type).map { read in { read(&$0) != nil } }
  }
}

/// The form of a number in a key.
enum NumberForm {
  case signed(Int)
  case unsigned(Int)
  case double
  case float

  /// Creates the form of a number type, or returns nil for another type.
  init?(_ type: Any.Type) {
    switch type {
    case is Int8.Type: self = .signed(1)
    case is Int16.Type: self = .signed(2)
    case is Int32.Type: self = .signed(4)
    case is Int64.Type, is Int.Type: self = .signed(8)
    case is UInt8.Type: self = .unsigned(1)
    case is UInt16.Type: self = .unsigned(2)
    case is UInt32.Type: self = .unsigned(4)
    case is UInt64.Type, is UInt.Type: self = .unsigned(8)
    case is Double.Type: self = .double
    case is Float.Type: self = .float
    default: return nil
    }
  }

  var byteCount: Int {
    switch self {
    case .signed(let count), .unsigned(let count): count
    case .double: 8
    case .float: 4
    }
  }
}

/// An optional of any type.
protocol OptionalKey {
  static var wrappedType: Any.Type { get }
}

extension Optional: OptionalKey {
  static var wrappedType: Any.Type { Wrapped.self }
}

extension KeyReader {
  /// Skips a value; returns false if the key ends before it does.
  mutating func skip(_ form: KeyForm) -> Bool {
    switch form {
    case .fixed(let count): return skip(count: count)
    case .text:
      while let byte = byte() { if byte == 0 { return true } }
      return false
    case .optional(let wrapped):
      guard let mark = byte() else { return false }
      return mark == 0 || skip(wrapped)
    case .custom(let skip): return skip(&self)
    }
  }

  /// Adds the number in a column to others; returns false if the key ends before it does.
  mutating func addNumber(_ column: NumberColumn, to numbers: inout AnyNumbers) -> Bool {
    if column.isFromBeginning { rewind() }
    for form in column.skips where !skip(form) { return false }
    if column.isOptional {
      guard let mark = byte() else { return false }
      if mark == 0 { return true }
    }
    guard let bits = bits(column.form.byteCount) else { return false }
    switch column.form {
    case .signed(let count):
      // Keys have the sign bit inverted.
      let shift = 64 - UInt64(8 * count)
      numbers.integers.add(Int(Int64(bitPattern: bits << shift ^ 1 << 63) >> Int64(shift)))
    case .unsigned(8): numbers.unsigned.add(bits)
    case .unsigned: numbers.integers.add(Int(bits))
    case .double:
      numbers.doubles.add(Double(bitPattern: bits >> 63 == 1 ? bits ^ 1 << 63 : ~bits))
    case .float:
      let bits = UInt32(bits)
      numbers.doubles.add(
        Double(Float(bitPattern: bits >> 31 == 1 ? bits ^ 1 << 31 : ~bits)))
    }
    return true
  }
}

/// The position of a property's numbers in keys.
struct NumberColumn {
  let form: NumberForm
  let isOptional: Bool
  let isFromBeginning: Bool
  let skips: [KeyForm]

  /// Creates a column, or returns nil if the property is not one of Swift's number types.
  init?<Number>(_ column: KeyColumn<Number>) {
    let wrapped = (Number.self as? any OptionalKey.Type)?.wrappedType
    guard let form = NumberForm(wrapped ?? Number.self) else { return nil }
    (self.form, isOptional) = (form, wrapped != nil)
    (isFromBeginning, skips) = (column.isFromBeginning, column.skips)
  }
}

/// Sums of any of the three types.
///
/// The type is not generic, so that the loop over keys is compiled once for all three.
struct AnyNumbers {
  var integers = QueryNumbers<Int>()
  var unsigned = QueryNumbers<UInt64>()
  var doubles = QueryNumbers<Double>()

  /// Adds a number.
  mutating func add<Sum: SummedNumber>(_ number: Sum) {
    switch number {
    case let number as Int: integers.add(number)
    case let number as UInt64: unsigned.add(number)
    case let number as Double: doubles.add(number)
    default: preconditionFailure("Sums are computed as Int, UInt64 or Double.")
    }
  }

  /// Returns the sums in one type.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notEvaluable` if a sum is too large.
  func numbers<Sum: SummedNumber>(
    _: Sum.Type, _ entry: RegisteredClass
  ) throws(StoreError) -> QueryNumbers<Sum> {
    let all: [Any] = [integers, unsigned, doubles]
    for case let numbers as QueryNumbers<Sum> in all { return try numbers.checked(entry) }
    return QueryNumbers()
  }
}
