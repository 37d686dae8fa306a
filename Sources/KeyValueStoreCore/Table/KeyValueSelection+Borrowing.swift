import Files
import FoundationEssentials
import StoreEngine

extension KeyValueSelection {
  /// Calls a closure with each key and the bytes of its value, which are not copied.
  ///
  ///     try images.prefix("2026-").limit(50).forEachBytes { name, bytes in
  ///       archive.add(String(copying: name), bytes)
  ///     }
  ///
  /// The values must have been put as `Data`, or as strings, whose bytes are UTF-8. Each is verified
  /// before the call. All items are read as of one moment, unless there are filters or an order;
  /// then the items are copied, as by ``forEach(_:)``. Keys and bytes are valid only in the closure,
  /// which must not use the store.
  ///
  /// Complexity: As ``items()``. On a backend in files that is not encrypted, no memory is allocated
  /// for each item.
  ///
  /// - Throws: The errors of the closure and of ``items()``, and `StoreError` with `typeMismatch` for
  ///   the first value of another type.
  public func forEachBytes(_ body: (UTF8Span, RawSpan) throws -> Void) throws {
    if isFiltered || isBefore != nil { return try forEach { try $0.lendBytes(body) } }
    try requirePage()
    if limit == 0 { return }
    var failure: (any Error)?
    let now = table.store.now()
    var (skip, left) = (offset, limit)
    try scanBytes(range) { (key, item) throws(StoreError) in
      let isIncluded = { (head: ItemHead) in
        if head.isExpired(now) { return false }
        skip -= 1
        return skip < 0
      }
      try ItemFormat.lendBytes(item, of: key, table.state, where: isIncluded) { bytes in
        left -= 1
        do {
          guard let key = try? UTF8Span(validating: Span(_bytes: key)) else { throw noText }
          try body(key, bytes)
        } catch { failure = error }
      }
      return left > 0 && failure == nil ? .next : .pause
    }
    if let failure { throw failure }
  }
}

extension KeyValueItem {
  /// Calls a closure with the key and the bytes of the value.
  fileprivate func lendBytes(_ body: (UTF8Span, RawSpan) throws -> Void) throws {
    switch value {
    case .data(let data): try body(key.utf8Span, data.bytes)
    case .string(let text): try text.lendUTF8 { try body(key.utf8Span, $0) }
    default: throw StoreError.noBytes(value).naming(table: table, key: key)
    }
  }
}
