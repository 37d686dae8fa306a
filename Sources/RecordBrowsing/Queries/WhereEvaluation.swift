import ConditionSyntax
import StoreEngine
import StoredObjectsCore

extension BrowsedState {
  /// Returns whether an object satisfies a condition.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` or `DataBufferError` for a value that can't be read.
  func satisfies(_ record: BrowsedRecord, _ condition: WhereCondition) throws -> Bool {
    switch condition {
    case .all(let parts): return try parts.allSatisfy { try satisfies(record, $0) }
    case .any(let parts): return try parts.contains { try satisfies(record, $0) }
    case .not(let part): return try !satisfies(record, part)
    case .comparison(let property, let comparison, let value):
      return comparison.holds(try self.value(of: property, record), value)
    case .oneOf(let property, let values):
      let left = try self.value(of: property, record)
      return values.contains { ConditionOperator.equal.holds(left, $0) }
    }
  }

  private func value(of property: WhereProperty, _ record: BrowsedRecord) throws -> WhereValue {
    switch property {
    case .rowID: return .integer(Int128(record.rowID))
    case .named(let name, _):
      guard let part = record.part(name) else { return .none }
      switch part.type {
      case .data, .external, .custom, .codable, .dictionary: return .other
      default: return WhereValue(try self.value(part.bytes, part.type), part.type)
      }
    }
  }
}

/// A range of an index, in which all objects are that satisfy a condition.
struct IndexRange: Sendable {
  let index: BrowsedIndex
  /// The ranges of keys, in ascending order.
  var ranges: [KeyRange]
}

extension BrowsedState {
  /// Returns the smallest range of an index that has all objects that satisfy a condition; nil if
  /// no index helps.
  func indexRange(
    for condition: WhereCondition, of known: BrowsedClass
  ) throws(StoreError) -> IndexRange? {
    let parts = if case .all(let parts) = condition { parts } else { [condition] }
    var ranges: [IndexRange] = []
    for part in parts {
      guard let range = try indexRange(forPart: part, of: known) else { continue }
      let same = ranges.firstIndex { $0.index.name == range.index.name && $0.ranges.count == 1 }
      if let same, range.ranges.count == 1 {
        // From one value to another.
        ranges[same].ranges[0].formIntersection(range.ranges[0])
      } else {
        ranges.append(range)
      }
    }
    var best: (range: IndexRange, count: Int)?
    for var range in ranges {
      range.ranges.removeAll(where: \.isEmpty)
      var count = 0
      for keys in range.ranges { count += try backend.keyCount(in: range.index.table, keys) }
      if best.map({ count < $0.count }) ?? true { best = (range, count) }
    }
    return best?.range
  }

  private func indexRange(
    forPart part: WhereCondition, of known: BrowsedClass
  ) throws(StoreError) -> IndexRange? {
    switch part {
    case .comparison(.named(let name, let type), let comparison, let value):
      guard let index = try index(by: name, of: known), !index.parts[0].isFolded,
        let range = keys(comparison, value, type)
      else { return nil }
      return IndexRange(index: index, ranges: [range])
    case .oneOf(.named(let name, let type), let values):
      guard let index = try index(by: name, of: known), !index.parts[0].isFolded else { return nil }
      let ranges = values.compactMap { keys(.equal, $0, type) }
      guard ranges.count == values.count else { return nil }
      return IndexRange(
        index: index,
        ranges: Set(ranges).sorted { $0.from.lexicographicallyPrecedes($1.from) })
    default: return nil
    }
  }

  private func keys(
    _ comparison: ConditionOperator, _ value: WhereValue, _ type: StoredType
  ) -> KeyRange? {
    let isOptional = if case .optional = type { true } else { type.referenceForm != nil }
    let mark = [BrowsedIndex.mark]
    if value == .none {
      return comparison == .equal && isOptional ? .prefix(mark + [0]) : nil
    }
    let start = isOptional ? mark + [1] : mark
    if comparison == .starts, case .text(let text) = value, !text.isEmpty {
      var key = IndexKey()
      text.writeKey(to: &key)
      return .prefix(start + key.bytes.dropLast())
    }
    guard let (first, end) = bounds(of: value, type) else { return nil }
    let all = KeyRange.prefix(start)
    switch comparison {
    case .equal: return KeyRange(from: start + first, to: end.map { start + $0 } ?? all.to)
    case .less: return KeyRange(from: start, to: start + first)
    case .lessOrEqual: return KeyRange(from: start, to: end.map { start + $0 } ?? all.to)
    case .greater: return end.map { KeyRange(from: start + $0, to: all.to) }
    case .greaterOrEqual: return KeyRange(from: start + first, to: all.to)
    default: return nil
    }
  }

  /// Returns the bytes of the first key with a value, and of the first key after the value.
  private func bounds(of value: WhereValue, _ type: StoredType) -> (first: [UInt8], end: [UInt8]?)?
  {
    if case .moment(let start, let end) = value {
      var keys = (IndexKey(), IndexKey())
      start.writeKey(to: &keys.0)
      end.writeKey(to: &keys.1)
      return (keys.0.bytes, keys.1.bytes)
    }
    guard let plain = value.plain, let bytes = try? encoded(plain, type),
      var key = indexKey(bytes, type, isFolded: false)
    else { return nil }
    // The mark of an optional is already in the range.
    let isOptional = if case .optional = type { true } else { type.referenceForm != nil }
    if isOptional { key.removeFirst() }
    return (key, KeyRange.end(ofPrefix: key))
  }
}

extension KeyRange {
  /// Removes the keys that are not in another range.
  fileprivate mutating func formIntersection(_ other: KeyRange) {
    if from.lexicographicallyPrecedes(other.from) { from = other.from }
    guard let end = other.to else { return }
    if to.map({ end.lexicographicallyPrecedes($0) }) ?? true { to = end }
  }
}

extension WhereValue {
  /// The value in the form of JSON; nil if it is not one value.
  var plain: StoredValue? {
    switch self {
    case .text(let text): .string(text)
    case .integer(let number): try? StoredValue(number)
    case .number(let number): number.isFinite ? .double(number) : nil
    case .bool(let flag): .bool(flag)
    default: nil
    }
  }
}
