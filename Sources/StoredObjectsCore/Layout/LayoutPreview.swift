package import StoreEngine

/// The effects of opening a store with a class whose properties have changed.
///
/// The answer comes from the code that opens stores, so the two can't differ.
package struct LayoutPreview: Sendable {
  /// The changes from the newest layout in the store; nil if it has none.
  package let difference: LayoutDifference?
  /// Whether the next save of the class adds a layout to the store.
  package let addsLayout: Bool
  /// Whether a later version of the class has saved records, so that this one can only read.
  package let isOutdated: Bool
  /// The numbers of the layouts whose records are converted when they are read.
  package let convertedNumbers: [UInt8]

  /// Compares the properties of a class with its layouts in a store.
  ///
  /// Complexity: linear in the number of properties of all layouts.
  ///
  /// - Parameters:
  ///   - className: The name of the class in the store.
  ///   - version: The version that the class declares.
  ///   - properties: The properties that the class declares, in order.
  ///   - metadata: The metadata row of the class; nil if the store does not have the class.
  ///   - saved: The layouts of the class in the store, the oldest first.
  /// - Throws: ``/StoreEngine/StoreError`` with `changedLayout` if the store would not open.
  package init(
    of className: String, version: UInt8, properties: [SavedLayout.SavedProperty],
    metadata: ClassMetadata?, saved: [SavedLayout]
  ) throws(StoreError) {
    let layout = ClassLayout(
      StoredObject.self,
      properties.map { property in
        property.formerNames.reduce(StoredProperty(property.name, property.type)) {
          $0.formerly($1)
        }
      })
    let layouts = try LayoutResolution(
      className, DeclaredLayout(classVersion: version, layout: layout), metadata, saved,
      hasNumbers: !(metadata?.flags ?? []).contains(.unversionedRecords)
    ).layouts()
    (addsLayout, isOutdated) = (layouts.needsSaving, layouts.isOutdated)
    convertedNumbers = saved.map(\.number).filter {
      if case .converted = layouts.reading($0) { true } else { false }
    }
    difference = saved.last.flatMap {
      guard case .properties(let old) = $0.form else { return nil }
      return LayoutDifference(from: old, to: properties)
    }
  }
}
