import StoreEngine

/// The change between a layout in a store and the layout of a class.
struct LayoutChange {
  let old: [SavedLayout.SavedProperty]
  /// The properties that the class reads in a record of that version.
  let new: [StoredProperty]
  /// The properties of a new object.
  private let current: [StoredProperty]
  /// The changes that can't be converted, with their properties.
  private(set) var obstacles: [Obstacle] = []
  /// The conversion of records of the old layout, or nil if there are obstacles.
  private(set) var conversion: RecordConversion?

  /// A reason why a record can't be read.
  struct Obstacle {
    /// The property as it was saved.
    let old: SavedLayout.SavedProperty
    /// The property as it is now; nil if it is gone.
    let new: StoredProperty?
    /// The advice for the developer.
    let cure: String
  }

  /// Compares layouts.
  ///
  /// - Parameters:
  ///   - old: The properties of the records.
  ///   - between: The layouts that the store had in between.
  ///   - layout: The layout that the class declares.
  ///   - oldVersion: The version of the class that wrote the records.
  ///   - version: The current version of the class.
  init(
    from old: [SavedLayout.SavedProperty], through between: [SavedLayout.Form],
    to layout: ClassLayout, at oldVersion: UInt8, of version: UInt8
  ) {
    self.old = old
    new = layout.properties(at: oldVersion)
    current = layout.properties(at: version)
    let sources = Self.sources(old, new, between)
    let steps = zip(new, sources).map { step(for: $0, from: $1) }
    var skips: [RecordConversion.Skip] = []
    for (index, property) in old.enumerated() {
      let position = sources.firstIndex(of: index)
      skips.append(skip(property, position.map { new[$0] }, layout))
    }
    guard obstacles.isEmpty else { return }
    conversion = RecordConversion(
      oldProperties: skips, steps: steps, properties: current.map(\.skip))
  }

  private static func sources(
    _ old: [SavedLayout.SavedProperty], _ new: [StoredProperty], _ between: [SavedLayout.Form]
  ) -> [Int?] {
    var mapping = LayoutMapping(count: old.count)
    var last = old
    let current = SavedLayout.Form.properties(new.map(SavedLayout.SavedProperty.init))
    for case .properties(let next) in between + [current] {
      mapping = LayoutMapping(from: last, to: next).following(mapping)
      last = next
    }
    // A property of earlier versions only is no longer in the layouts in between.
    return zip(new, mapping.sources).map { property, source in
      source
        ?? (property.endVersion == nil ? nil : old.firstIndex { $0.name == property.name })
    }
  }

  private mutating func step(
    for property: StoredProperty, from source: Int?
  ) -> RecordConversion.Step {
    guard let source else {
      let index = current.firstIndex { $0.name == property.name && $0.endVersion == nil }
      if let index { return .standard(index) }
      return obstruct(
        SavedLayout.SavedProperty(property), nil,
        "records of that version don't have it: remove @Dropped, or @Formerly with a type")
    }
    let former = old[source]
    let conversions = property.conversions.lazy
      .filter { $0.name == nil || $0.name == former.name }
      .compactMap { conversion in
        StoredConversion(from: former.type, to: conversion.oldType).map { (conversion, $0) }
      }
    if let (conversion, widening) = conversions.first(where: \.1.isNone) {
      return .make(source, former.type, widening, conversion)
    }
    if former.type.isOpaque, case .optional(former.type) = property.type { return .wrap(source) }
    if let conversion = StoredConversion(from: former.type, to: property.type) {
      if conversion.isNone { return .copy(source) }
      if !former.type.isOpaque { return .convert(source, former.type, conversion) }
    }
    if let (conversion, widening) = conversions.first {
      return .make(source, former.type, widening, conversion)
    }
    return obstruct(
      former, property,
      """
      write @Converted(from: \(former.type).self, by: …) on \(property.name), or rename it, so \
      that it is a new property
      """)
  }

  private mutating func obstruct(
    _ old: SavedLayout.SavedProperty, _ new: StoredProperty?, _ cure: String
  ) -> RecordConversion.Step {
    obstacles.append(Obstacle(old: old, new: new, cure: cure))
    return .standard(0)
  }

  /// Returns how to skip an old value; for a custom type, only the type itself can.
  private mutating func skip(
    _ property: SavedLayout.SavedProperty, _ successor: StoredProperty?, _ layout: ClassLayout
  ) -> RecordConversion.Skip {
    let type = property.type
    guard type.isOpaque else { return { buffer in try buffer.skip(type) } }
    if let known = layout.properties.first(where: { $0.type == type }) { return known.skip }
    if let successor, case .optional(type) = successor.type {
      return { buffer in
        var probe = DataBuffer([1] + buffer.rest)
        try successor.skip(&probe)
        try buffer.skip(probe.offset - 1)
      }
    }
    let conversions = layout.properties.flatMap(\.conversions)
    if let conversion = conversions.first(where: { $0.oldType == type }) {
      return { buffer in
        var output = DataBuffer()
        try conversion.convert(&buffer, &output)
      }
    }
    obstacles.append(
      Obstacle(
        old: property, new: successor,
        cure: """
          only the code of \(type) can read its values: keep the property, @Dropped(in: …), as \
          long as there are records with it
          """))
    return { _ in }
  }
}
