extension StoredType {
  /// Returns the form of a type with raw values.
  ///
  /// It is an enumeration with the names of its cases, or, for types that are not enums, such as
  /// option sets, the form of the raw values.
  package static func ofRawValues<Value: DataBufferValue & RawRepresentable>(
    _ type: Value.Type
  ) -> StoredType where Value.RawValue: DataBufferValue {
    let values = knownValues(of: type)
    let rawType = Value.RawValue.storedType
    guard let first = values.first, isEnumeration(first) else { return rawType }
    return .enumeration(
      StoredEnumeration(
        name: "\(Value.self)", rawType: rawType, cases: cases(of: values),
        formerNames: Value.formerCaseNames))
  }

  /// Returns all values, or those whose raw values are small numbers.
  private static func knownValues<Value: DataBufferValue & RawRepresentable>(
    of type: Value.Type
  ) -> [Value] {
    if let type = Value.self as? any CaseIterable.Type {
      func all<Known: CaseIterable>(_ type: Known.Type) -> [Value] {
        Known.allCases.compactMap { $0 as? Value }
      }
      return all(type)
    }
    guard let type = Value.RawValue.self as? any FixedWidthInteger.Type else { return [] }
    func values<Number: FixedWidthInteger>(_ type: Number.Type) -> [Value] {
      smallNumbers.compactMap { number in
        guard let raw = Number(exactly: number) as? Value.RawValue else { return nil }
        return Value(rawValue: raw)
      }
    }
    return values(type)
  }

  /// The raw values to try for an enumeration that does not list its cases.
  private static let smallNumbers = -128...255

  private static func isEnumeration(_ value: some Any) -> Bool {
    Mirror(reflecting: value).displayStyle == .enum
  }

  /// Returns the cases of values by name; empty if the type has its own description.
  private static func cases<Value: DataBufferValue>(
    of values: [Value]
  ) -> [StoredEnumeration.Case] {
    guard let first = values.first, !describesItself(first) else { return [] }
    let cases = values.map { value in
      var buffer = DataBuffer()
      value.write(to: &buffer)
      return StoredEnumeration.Case(name: "\(value)", bytes: buffer.bytes)
    }
    return Set(cases.map(\.name)).count == cases.count ? cases : []
  }

  private static func describesItself(_ value: Any) -> Bool {
    value is any CustomStringConvertible || value is any CustomDebugStringConvertible
      || value is any TextOutputStreamable
  }
}
