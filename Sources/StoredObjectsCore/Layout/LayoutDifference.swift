/// The changes from one layout of a class to a later one.
package struct LayoutDifference: Sendable {
  /// The earlier property for each property of the later layout; nil for a new property.
  package let sources: [SavedLayout.SavedProperty?]
  /// The properties that only the earlier layout has.
  package let removed: [SavedLayout.SavedProperty]
  /// Whether the order of the properties in both layouts has changed.
  package let isReordered: Bool

  /// Compares layouts by the names of their properties, former names included.
  ///
  /// Complexity: O(*n*) for *n* properties of both.
  package init(
    from old: [SavedLayout.SavedProperty], to new: [SavedLayout.SavedProperty]
  ) {
    let positions = LayoutMapping(from: old, to: new).sources
    sources = positions.map { $0.map { old[$0] } }
    let kept = positions.compactMap(\.self)
    isReordered = zip(kept, kept.dropFirst()).contains { $0 > $1 }
    let known = Set(kept)
    removed = old.indices.filter { !known.contains($0) }.map { old[$0] }
  }
}
