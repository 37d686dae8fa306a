/// A lossless conversion of a value from one type to another.
package indirect enum StoredConversion: Sendable {
  /// No change of the bytes.
  case none
  /// An integer to one with more bits.
  case widerInteger(from: StoredType, bitCount: UInt8)
  /// A number to a `Float` or `Double`.
  case floatingPoint(from: StoredType, isDouble: Bool)
  /// A number to its text.
  case text(of: StoredType)
  /// New raw values for the cases of an enumeration.
  case rawValues(StoredType, [[UInt8]: [UInt8]])
  /// A value to an optional.
  case wrapped(StoredConversion, StoredType)
  /// An optional, whose value is converted.
  case optional(StoredConversion, StoredType)
  /// A collection, whose elements are converted.
  case elements(StoredConversion, StoredType)
  /// A dictionary, whose keys and values are converted.
  case pairs(StoredConversion, StoredType, StoredConversion, StoredType)
  /// A reference to a class to a reference to any class.
  case anyReference(to: String)
  /// References to a class to references to any class.
  case anyReferences(to: String)
  /// Bytes to a value that may be stored outside of the record.
  case external
  /// A value that may be stored outside of the record to bytes.
  case internalized
  /// A reference to a list of at most one.
  case list(isAny: Bool)

  /// Whether the bytes don't change.
  package var isNone: Bool { if case .none = self { true } else { false } }
}

extension StoredConversion {
  /// Creates the conversion between two types; nil if a value could be lost.
  package init?(from old: StoredType, to new: StoredType) {
    if old.withoutNames == new.withoutNames {
      self = .none
      return
    }
    if let conversion = Self.between(old, new) ?? Self.betweenReferences(old, new) {
      self = conversion
    } else if case .optional(let wrapped) = new, let inner = Self(from: old, to: wrapped) {
      self = .wrapped(inner, old)
    } else {
      return nil
    }
  }

  private static func between(_ old: StoredType, _ new: StoredType) -> StoredConversion? {
    switch (old, new) {
    case (.enumeration(let old), .enumeration(let new)): between(old, new)
    case (.enumeration(let old), _): StoredConversion(from: old.rawType, to: new)
    case (.integer, .string), (.float, .string), (.double, .string): .text(of: old)
    case (.integer, .integer(let bitCount, let isSigned)):
      old.fits(bitCount, isSigned) ? .widerInteger(from: old, bitCount: bitCount) : nil
    case (.float, .double): .floatingPoint(from: old, isDouble: true)
    case (.integer(let bitCount, _), .double) where bitCount <= 32:
      .floatingPoint(from: old, isDouble: true)
    case (.integer(let bitCount, _), .float) where bitCount <= 16:
      .floatingPoint(from: old, isDouble: false)
    case (.string, .data), (.data, .array(.byte)), (.array(.byte), .data), (.string, .array(.byte)):
      StoredConversion.none
    case (.data, .external), (.array(.byte), .external): .external
    case (.external, .data), (.external, .array(.byte)): .internalized
    case (.optional(let old), .optional(let new)):
      StoredConversion(from: old, to: new).map { $0.isNone ? .none : .optional($0, old) }
    case (.array(let old), .array(let new)), (.set(let old), .array(let new)),
      (.set(let old), .set(let new)):
      StoredConversion(from: old, to: new).map { $0.isNone ? .none : .elements($0, old) }
    case (.dictionary(let oldKey, let oldValue), .dictionary(let newKey, let newValue)):
      between((oldKey, oldValue), (newKey, newValue))
    default: nil
    }
  }

  private static func between(
    _ old: (StoredType, StoredType), _ new: (StoredType, StoredType)
  ) -> StoredConversion? {
    guard let key = StoredConversion(from: old.0, to: new.0),
      let value = StoredConversion(from: old.1, to: new.1)
    else { return nil }
    return key.isNone && value.isNone ? StoredConversion.none : .pairs(key, old.0, value, old.1)
  }

  private static func betweenReferences(
    _ old: StoredType, _ new: StoredType
  ) -> StoredConversion? {
    switch (old, new) {
    case (.reference(let name), .anyReference): .anyReference(to: name)
    case (.references(let name), .anyReferences), (.referenceSet(let name), .anyReferences),
      (.referenceSet(let name), .anyReferenceSet):
      .anyReferences(to: name)
    case (.referenceSet(let old), .references(let new)): old == new ? StoredConversion.none : nil
    case (.anyReferenceSet, .anyReferences): StoredConversion.none
    case (.reference(let old), .references(let new)), (.reference(let old), .referenceSet(let new)):
      old == new ? .list(isAny: false) : nil
    case (.anyReference, .anyReferences), (.anyReference, .anyReferenceSet): .list(isAny: true)
    default: nil
    }
  }

  /// Returns the conversion that keeps the names of cases, whatever their raw values are.
  private static func between(
    _ old: StoredEnumeration, _ new: StoredEnumeration
  ) -> StoredConversion? {
    let isWider = StoredConversion(from: old.rawType, to: new.rawType)
    guard !old.cases.isEmpty, !new.cases.isEmpty else {
      return old.rawType == new.rawType ? StoredConversion.none : isWider
    }
    guard !old.hasTakenValue(of: new) else { return nil }
    let bytes = Dictionary(new.cases.map { ($0.name, $0.bytes) }) { first, _ in first }
    var map: [[UInt8]: [UInt8]] = [:]
    for item in old.cases {
      if let target = bytes[new.formerNames[item.name] ?? item.name] { map[item.bytes] = target }
    }
    if old.rawType == new.rawType, map.allSatisfy({ $0 == $1 }) { return StoredConversion.none }
    return .rawValues(old.rawType, map)
  }
}

extension StoredEnumeration {
  /// Whether a new case has the raw value of a removed one.
  ///
  /// It may be the same case under another name, or a different one.
  fileprivate func hasTakenValue(of new: StoredEnumeration) -> Bool {
    let names = Set(new.cases.map(\.name))
    let known = Set(cases.map { new.formerNames[$0.name] ?? $0.name })
    let fresh = Set(new.cases.filter { !known.contains($0.name) }.map(\.bytes))
    return cases.contains { item in
      !names.contains(new.formerNames[item.name] ?? item.name) && fresh.contains(item.bytes)
    }
  }
}

extension StoredType {
  /// Whether another integer type can hold every value of this one.
  fileprivate func fits(_ newCount: UInt8, _ isNewSigned: Bool) -> Bool {
    guard case .integer(let bitCount, let isSigned) = self else { return false }
    if isSigned == isNewSigned { return bitCount <= newCount }
    return isNewSigned && bitCount < newCount
  }
}
