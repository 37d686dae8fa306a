import Files
import FoundationEssentials
public import StoreEngine

extension KeyValueSelection {
  /// Returns the items as of one moment.
  ///
  /// Complexity: Linear in the number of items in the range up to the limit; O(n log n) if sorted.
  ///
  /// - Throws: `StoreError` with `noSuchTable`, `invalidArgument` (a negative limit or offset),
  ///   `damaged` or `newerVersion`; `notEvaluable` with the error of a closure of the selection as
  ///   its cause; and the errors of the backend.
  public func items() throws(StoreError) -> [KeyValueItem] {
    try requirePage()
    var items: [KeyValueItem] = []
    if limit == 0 { return items }
    guard let isBefore else {
      var skipped = 0
      if limit <= Self.lotCount { items.reserveCapacity(limit) }
      try scan { item in
        if skipped < offset {
          skipped += 1
        } else {
          items.append(item)
        }
        return items.count < limit ? .next : .pause
      }
      return items
    }
    try scan { item in
      items.append(item)
      return .next
    }
    return Array(try sorted(items, isBefore).dropFirst(offset).prefix(limit))
  }

  /// Returns the first item, or nil if there is none.
  ///
  /// Complexity: As ``items()`` with a limit of 1.
  ///
  /// - Throws: The errors of ``items()``.
  public func first() throws(StoreError) -> KeyValueItem? { try limit(min(limit, 1)).items().first }

  /// Returns the keys as of one moment.
  ///
  /// Complexity: As ``items()``. Without filters and sorting, no value is decoded.
  ///
  /// - Throws: The errors of ``items()``.
  public func keys() throws(StoreError) -> [String] {
    if isFiltered || isBefore != nil { return try items().map(\.key) }
    try requirePage()
    var (keys, skipped) = ([String](), 0)
    if limit == 0 { return keys }
    let now = table.store.now()
    try scanBytes(range) { (key, value) throws(StoreError) in
      if ItemFormat.head(of: value)?.head.isExpired(now) ?? false { return .next }
      if skipped < offset {
        skipped += 1
        return .next
      }
      keys.append(try text(key))
      return keys.count < limit ? .next : .pause
    }
    return keys
  }

  /// Returns the values decoded as a type.
  ///
  /// Complexity: As ``items()``.
  ///
  /// - Throws: The errors of ``items()``, and `StoreError` with `typeMismatch` for the first value
  ///   of another type.
  public func values<Value: Decodable>(as type: Value.Type = Value.self) throws(StoreError)
    -> [Value]
  {
    try items().map { (item) throws(StoreError) in try item.decoded(as: type) }
  }

  /// Returns the number of items.
  ///
  /// Complexity: Without a filter, O(log n) plus the number of expired items that are not removed
  /// yet. With a filter, as ``items()``.
  ///
  /// - Throws: The errors of ``items()``.
  public func count() throws(StoreError) -> Int {
    try requirePage()
    var count = 0
    if !isFiltered {
      count = try unfilteredCount()
    } else {
      try scan { _ in
        count += 1
        return .next
      }
    }
    return min(limit, max(0, count - offset))
  }

  private func unfilteredCount() throws(StoreError) -> Int {
    let now = table.store.now()
    while true {
      // The number of items that had expired by a time never grows. So if it has not shrunk either,
      // none of them was removed between the two counts.
      let expired = try expiredCount(now)
      let count = try table.reading(range) { (backend) throws(StoreError) in
        try backend.keyCount(in: table.state.items, range)
      }
      if expired == 0 { return count }
      if try expired == expiredCount(now) { return count - expired }
    }
  }

  private func expiredCount(_ now: Date) throws(StoreError) -> Int {
    var count = 0
    let due = ExpiryKey.range(through: now)
    _ = try table.reading(due, of: table.state.expiry) { (backend) throws(StoreError) in
      try backend.scanKeys(
        of: table.state.expiry, due, isReversed: false
      ) { key, _ in
        if let item = ExpiryKey.itemKey(key), range.contains(item) { count += 1 }
        return .next
      }
    }
    return count
  }

  /// Calls a closure with each item, in bounded memory unless the items are sorted.
  ///
  /// The items are read a few hundred at a time, each portion as of one moment. The closure may do
  /// anything, including writes to the table.
  ///
  /// Complexity: As ``items()``.
  ///
  /// - Throws: The errors of ``items()`` and of the closure.
  public func forEach(_ body: (KeyValueItem) throws -> Void) throws {
    try requirePage()
    if isBefore != nil { return try items().forEach(body) }
    var (rest, skip, left) = (range, offset, limit)
    while left > 0 {
      var lot: [KeyValueItem] = []
      var last: [UInt8]?
      let isDone = try scan(rest) { item, key in
        if skip > 0 {
          skip -= 1
        } else {
          lot.append(item)
          left -= 1
        }
        if lot.count < Self.lotCount && left > 0 { return .next }
        last = [UInt8](copying: key)
        return .pause
      }
      for item in lot { try body(item) }
      guard !isDone, let last else { return }
      if isReversed { rest.to = last } else { rest.from = last + [0] }
    }
  }

  private static let lotCount = 256

  /// Deletes the selected items in one commit.
  ///
  /// Complexity: As ``keys()``, and O(log n) for each key that is deleted.
  ///
  /// - Returns: The number of deleted items.
  /// - Throws: The errors of ``items()``, and `StoreError` with `nestedWrite`.
  @discardableResult
  public func delete() throws(StoreError) -> Int {
    try table.store.writeTyped { (batch) throws(StoreError) in
      try batch.delete(keys(), from: table)
    }
  }

  // MARK: Scanning

  private func sorted(
    _ items: [KeyValueItem], _ isBefore: (KeyValueItem, KeyValueItem) throws -> Bool
  ) throws(StoreError) -> [KeyValueItem] {
    do {
      return try items.sorted(by: isBefore)
    } catch {
      throw .wrapping(error, .notEvaluable, at: .init(table: table.name))
    }
  }

  private func scan(_ body: (KeyValueItem) throws(StoreError) -> ScanStep) throws(StoreError) {
    _ = try scan(range) { (item, _) throws(StoreError) in try body(item) }
  }

  /// Calls a closure with the items that exist and pass the filters.
  ///
  /// - Returns: Whether the scan has reached the end; false if the closure has paused it.
  @discardableResult
  private func scan(
    _ range: KeyRange, _ body: (KeyValueItem, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    let now = table.store.now()
    return try scanBytes(range) { (key, value) throws(StoreError) in
      // The item is verified first: a changed bit could look like a time of expiry.
      let item = try KeyValueItem(value, of: key, text(key), table.state)
      if let expiresAt = item.expiresAt, expiresAt <= now { return .next }
      guard try includes(item) else { return .next }
      return try body(item, key)
    }
  }

  @discardableResult
  func scanBytes(
    _ range: KeyRange, _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try table.reading(range) { (backend) throws(StoreError) in
      try backend.scanKeys(of: table.state.items, range, isReversed: isReversed, body)
    }
  }

  private func text(_ key: RawSpan) throws(StoreError) -> String {
    guard let text = String(checking: key) else { throw noText }
    return text
  }

  /// The error for a key that is no text.
  var noText: StoreError { StoreError(.damaged, "A key is not UTF-8.", table: table.name) }
}
