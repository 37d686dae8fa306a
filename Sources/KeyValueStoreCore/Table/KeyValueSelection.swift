import StoreEngine

/// Some items of a table: which ones, in which order, how many.
///
///     let recent = try notes.prefix("2026-")
///       .filter { !$0.key.hasSuffix("-draft") }
///       .sorted { $0.updatedAt > $1.updatedAt }
///       .limit(10)
///       .items()
///
/// It is a description, and reads nothing until one of the calls that `throw`. The steps are taken
/// in the order of this list, whatever the order of the calls: range, direction, filters, sorting,
/// offset, limit.
///
/// A page that begins behind a key finds its place in O(log n), however far that is; ``offset(_:)``
/// walks there:
///
///     let page = try notes.all.after(lastKey).limit(50).items()
public struct KeyValueSelection: Sendable {
  let table: KeyValueTable
  var range: KeyRange
  var isReversed = false
  /// All filters, in their order; a list, so that any number can be asked without recursion.
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

  /// Those behind a key, in the order of the keys.
  public func after(_ key: String) -> KeyValueSelection {
    let from = Array(key.utf8) + [0]
    return with { if $0.range.from.lexicographicallyPrecedes(from) { $0.range.from = from } }
  }

  /// Those before a key, in the order of the keys; with ``reversed()`` the next page backwards.
  public func before(_ key: String) -> KeyValueSelection {
    let to = Array(key.utf8)
    return with { selection in
      if selection.range.to.map({ to.lexicographicallyPrecedes($0) }) ?? true {
        selection.range.to = to
      }
    }
  }

  /// From the last key to the first.
  public func reversed() -> KeyValueSelection { with { $0.isReversed.toggle() } }

  /// Those that a closure says yes to; several filters all have to.
  ///
  /// The closure must not write to the store.
  public func filter(
    _ isIncluded: @escaping @Sendable (KeyValueItem) throws -> Bool
  ) -> KeyValueSelection {
    with { $0.filters.append(isIncluded) }
  }

  /// Whether there are filters.
  var isFiltered: Bool { !filters.isEmpty }

  /// Whether all filters say yes to an item.
  func includes(_ item: KeyValueItem) throws(StoreError) -> Bool {
    do {
      for isIncluded in filters where try !isIncluded(item) { return false }
      return true
    } catch {
      throw .wrapping(error, .notEvaluable, at: .init(table: table.name, key: item.key))
    }
  }

  /// In another order than that of the keys; items that are equal by it stay in that of the keys.
  ///
  /// All selected items are in memory while they are sorted.
  public func sorted(
    by isBefore: @escaping @Sendable (KeyValueItem, KeyValueItem) throws -> Bool
  ) -> KeyValueSelection { with { $0.isBefore = isBefore } }

  /// In the order of some property of the items, the smallest first.
  public func sorted<Property: Comparable & SendableMetatype>(
    by property: @escaping @Sendable (KeyValueItem) throws -> Property
  ) -> KeyValueSelection { sorted { try property($0) < property($1) } }

  /// Without the first ones.
  ///
  /// A negative count is an error once the selection is read.
  public func offset(_ count: Int) -> KeyValueSelection { with { $0.offset = count } }

  /// At most some number of items.
  ///
  /// A negative count is an error once the selection is read.
  public func limit(_ count: Int) -> KeyValueSelection { with { $0.limit = count } }

  /// Refuses negative numbers, which may come from the user of a program.
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
