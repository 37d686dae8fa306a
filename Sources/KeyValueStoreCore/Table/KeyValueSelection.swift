import StoreEngine

/// A selection of items in a table: a range, filters, an order and a limit.
///
///     let recent = try notes.prefix("2026-")
///       .filter { !$0.key.hasSuffix("-draft") }
///       .sorted { $0.updatedAt > $1.updatedAt }
///       .limit(10)
///       .items()
///
/// A selection is a description: it reads nothing until you call a method that throws. The steps
/// apply in this order, regardless of the order of the calls: range, direction, filters, sorting,
/// offset, limit.
///
/// To read page by page, start after a key. This takes O(log n) at any position, while
/// ``offset(_:)`` reads all items before it:
///
///     let page = try notes.all.after(lastKey).limit(50).items()
public struct KeyValueSelection: Sendable {
  let table: KeyValueTable
  var range: KeyRange
  var isReversed = false
  /// The filters in order; a list, so that any number of them works without recursion.
  private var filters: [@Sendable (KeyValueItem) throws -> Bool] = []
  var isBefore: (@Sendable (KeyValueItem, KeyValueItem) throws -> Bool)?
  var offset = 0
  var limit = Int.max

  init(_ table: KeyValueTable, _ range: KeyRange) { (self.table, self.range) = (table, range) }

  private func with(_ change: (inout KeyValueSelection) -> Void) -> KeyValueSelection {
    var copy = self
    change(&copy)
    return copy
  }

  /// Returns the items after a key, in key order.
  public func after(_ key: String) -> KeyValueSelection {
    let from = Array(key.utf8) + [0]
    return with { if $0.range.from.lexicographicallyPrecedes(from) { $0.range.from = from } }
  }

  /// Returns the items before a key, in key order; with ``reversed()``, the previous page.
  public func before(_ key: String) -> KeyValueSelection {
    let to = Array(key.utf8)
    return with { selection in
      if selection.range.to.map({ to.lexicographicallyPrecedes($0) }) ?? true {
        selection.range.to = to
      }
    }
  }

  /// Returns the items in the opposite direction, such as from the last key to the first.
  public func reversed() -> KeyValueSelection { with { $0.isReversed.toggle() } }

  /// Returns the items for which a closure returns true; with several filters, all must.
  ///
  /// The closure must not write to the store.
  ///
  /// Complexity: Linear in the number of filters.
  public func filter(
    _ isIncluded: @escaping @Sendable (KeyValueItem) throws -> Bool
  ) -> KeyValueSelection {
    with { $0.filters.append(isIncluded) }
  }

  /// Whether there are filters.
  var isFiltered: Bool { !filters.isEmpty }

  /// Returns whether an item passes all filters.
  func includes(_ item: KeyValueItem) throws(StoreError) -> Bool {
    do {
      for isIncluded in filters where try !isIncluded(item) { return false }
      return true
    } catch {
      throw .wrapping(error, .notEvaluable, at: .init(table: table.name, key: item.key))
    }
  }

  /// Returns the items in another order than key order; equal items stay in key order.
  ///
  /// All selected items are in memory while they are sorted.
  public func sorted(
    by isBefore: @escaping @Sendable (KeyValueItem, KeyValueItem) throws -> Bool
  ) -> KeyValueSelection { with { $0.isBefore = isBefore } }

  /// Returns the items in the order of a property, the smallest first.
  public func sorted<Property: Comparable & SendableMetatype>(
    by property: @escaping @Sendable (KeyValueItem) throws -> Property
  ) -> KeyValueSelection { sorted { try property($0) < property($1) } }

  /// Returns the items without a number of items at the beginning.
  ///
  /// If the count is negative, reading the selection throws.
  public func offset(_ count: Int) -> KeyValueSelection { with { $0.offset = count } }

  /// Returns at most a number of items.
  ///
  /// If the count is negative, reading the selection throws.
  public func limit(_ count: Int) -> KeyValueSelection { with { $0.limit = count } }

  /// Throws if the limit or the offset is negative; the numbers may come from user input.
  ///
  /// - Throws: `StoreError` with `invalidArgument`.
  func requirePage() throws(StoreError) {
    guard limit < 0 || offset < 0 else { return }
    throw StoreError(
      .invalidArgument,
      "The \(limit < 0 ? "limit is \(limit)" : "offset is \(offset)"): give 0 or more.",
      table: table.name)
  }
}
