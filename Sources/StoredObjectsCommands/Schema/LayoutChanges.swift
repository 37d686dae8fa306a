import RecordBrowsing
import StoredObjectsCore

/// Descriptions of the changes between a layout and the previous one.
struct LayoutChanges {
  /// The change of each property; nil if it hasn't changed.
  let texts: [String?]
  let removed: [SavedLayout.SavedProperty]
  let isReordered: Bool

  /// Compares a layout with the previous one; a first layout has no changes.
  init(from former: SavedLayout?, to layout: SavedLayout) {
    let properties = layout.browsedProperties
    guard let former else {
      texts = properties.map { _ in nil }
      (removed, isReordered) = ([], false)
      return
    }
    let difference = LayoutDifference(from: former.browsedProperties, to: properties)
    texts = zip(properties, difference.sources).map(Self.text)
    (removed, isReordered) = (difference.removed, difference.isReordered)
  }

  private static func text(
    _ property: SavedLayout.SavedProperty, _ source: SavedLayout.SavedProperty?
  ) -> String? {
    guard let source else { return "new" }
    var changes: [String] = []
    if source.name != property.name { changes.append("renamed from \(source.name)") }
    if source.type != property.type {
      let isSameName = source.type.description == property.type.description
      changes.append(isSameName ? "other cases" : "was \(source.type)")
    }
    return changes.isEmpty ? nil : changes.joined(separator: ", ")
  }
}
