import StoreEngine

extension StoreError {
  /// Returns the error for records that can't be read by name, with both layouts side by side.
  static func changedLayout(
    _ change: LayoutChange, _ layout: SavedLayout, of className: String
  ) -> StoreError {
    let cures = change.obstacles.map { obstacle in
      let new = obstacle.new.map { "is now \($0.name): \($0.type)" } ?? "is gone"
      return "\(obstacle.old.name): \(obstacle.old.type) \(new): \(obstacle.cure)."
    }
    return StoreError(
      .changedLayout,
      """
      The class has changed in a way that could lose data.
      \(cures.joined(separator: "\n"))
      \(table(change, layout.number))
      """, at: .init(className: className))
  }

  /// Returns the error for a class without a layout that writes other values than before.
  static func changedValues(
    from old: SavedLayout.Form, to new: SavedLayout.Form, _ version: UInt8, _ className: String
  ) -> StoreError {
    StoreError(
      .changedLayout,
      """
      A new object writes \(new.text), but in version \(version) the class wrote \(old.text). \
      Raise classVersion and read the records of version \(version) in their own form, or declare \
      the layout of the class.
      """, at: .init(className: className))
  }

  /// Returns the error for records from before layouts were kept that lack the class's properties.
  static func unknownProperties(
    _ form: SavedLayout.Form, _ version: UInt8, _ location: Location
  ) -> StoreError {
    StoreError(
      .changedLayout,
      """
      The records of the class were written before stores kept layouts, and those of version \
      \(version) don't have its properties, \(form.text). Put the properties in the order of that \
      version, and mark new ones @Since(\(Int(version) + 1)) and dropped ones @Dropped(in: \
      \(Int(version) + 1)).
      """, at: location)
  }

  private static func table(_ change: LayoutChange, _ number: UInt8) -> String {
    let old = ["saved (layout \(number))"] + change.old.map { "\($0.name): \($0.type)" }
    let new = ["this program"] + change.new.map { "\($0.name): \($0.type)" }
    let width = (old.map(\.count).max() ?? 0) + 3
    return (0..<max(old.count, new.count)).map { index in
      let left = index < old.count ? old[index] : ""
      guard index < new.count else { return "  " + left }
      return "  " + left + String(repeating: " ", count: width - left.count) + new[index]
    }.joined(separator: "\n")
  }
}

extension SavedLayout.Form {
  /// A description of the properties or values.
  fileprivate var text: String {
    switch self {
    case .properties(let properties):
      properties.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
    case .values(let types): types.map(\.description).joined(separator: ", ")
    }
  }
}
