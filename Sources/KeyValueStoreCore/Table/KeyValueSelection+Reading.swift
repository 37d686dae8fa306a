import Files
import FoundationEssentials
public import StoreEngine

extension KeyValueSelection {
  /// The items, as they are at one moment.
  ///
  /// Complexity: linear in what the range holds up to the limit; O(n log n) when sorted.
  ///
  /// - Throws: `StoreError` with `noSuchTable`, `invalidArgument` (a negative limit or
  ///   offset), `damaged` or `newerVersion`; `notEvaluable` with what a closure of the selection has
  ///   thrown as its cause; what the backend throws.
  public func items() throws(StoreError) -> [KeyValueItem] {
    try requirePage()
    var items: [KeyValueItem] = []
    if limit == 0 { return items }
    guard let isBefore else {
      var skipped = 0
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

  /// The first item; nil when there is none.
  ///
  /// - Throws: as ``items()``.
  public func first() throws(StoreError) -> KeyValueItem? { try limit(min(limit, 1)).items().first }

  /// The keys, as they are at one moment.
  ///
  /// Complexity: as ``items()``; without filter and sorting no value is looked at.
  ///
  /// - Throws: as ``items()``.
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

  /// The values as a type.
  ///
  /// - Throws: as ``items()``, and `StoreError` with `typeMismatch` for the first one of
  ///   another type.
  public func values<Value: Decodable>(as type: Value.Type = Value.self) throws(StoreError)
    -> [Value]
  {
    try items().map { (item) throws(StoreError) in try item.decoded(as: type) }
  }

  /// How many items there are.
  ///
  /// Complexity: O(log n) without a filter, and linear in the number of expired items that are not
  /// yet removed; as ``items()`` with one.
  ///
  /// - Throws: as ``items()``.
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
      // What has expired by a moment never grows. So if it has not shrunk either, nothing of it has
      // been removed between the two looks.
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

  /// Calls a closure with each item, in bounded memory unless they are sorted.
  ///
  /// The items are read some hundred at a time, each lot as it is at one moment. The closure may do
  /// anything, writing to the table included.
  ///
  /// - Throws: as ``items()``, and what the closure throws.
  public func forEach(_ body: (KeyValueItem) throws -> Void) throws {
    try requirePage()
    if isBefore != nil { return try items().forEach(body) }
    var (rest, skip, left) = (range, offset, limit)
    while left > 0 {
      var lot: [KeyValueItem] = []
      var last: [UInt8]?
      let isDone = try scan(rest) { item, key in
        last = key
        if skip > 0 {
          skip -= 1
        } else {
          lot.append(item)
          left -= 1
        }
        return lot.count < Self.lotCount && left > 0 ? .next : .pause
      }
      for item in lot { try body(item) }
      guard !isDone, let last else { return }
      if isReversed { rest.to = last } else { rest.from = last + [0] }
    }
  }

  private static let lotCount = 256

  /// Deletes the selected items, in one commit.
  ///
  /// - Returns: how many there were.
  /// - Throws: as ``items()``; `StoreError` with `nestedWrite`.
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

  /// Lends the items that are there and that the filter takes.
  ///
  /// - Returns: false when the closure has paused.
  @discardableResult
  private func scan(
    _ range: KeyRange, _ body: (KeyValueItem, [UInt8]) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    let now = table.store.now()
    return try scanBytes(range) { (key, value) throws(StoreError) in
      if ItemFormat.head(of: value)?.head.isExpired(now) ?? false { return .next }
      let item = try KeyValueItem(value, of: key, text(key), table.state)
      guard try includes(item) else { return .next }
      return try body(item, [UInt8](copying: key))
    }
  }

  @discardableResult
  private func scanBytes(
    _ range: KeyRange, _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool {
    try table.reading(range) { (backend) throws(StoreError) in
      try backend.scanKeys(of: table.state.items, range, isReversed: isReversed, body)
    }
  }

  private func text(_ key: RawSpan) throws(StoreError) -> String {
    guard let text = String(checking: key) else {
      throw StoreError(.damaged, "A key is no UTF-8.", table: table.name)
    }
    return text
  }
}
