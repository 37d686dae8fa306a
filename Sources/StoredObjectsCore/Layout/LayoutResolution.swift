import StoreEngine

/// A comparison of a class in the program with the records in a store.
///
/// A class that declares its properties gets a new number for each layout that the store does not
/// have. A class that does not declare them uses its version as the number.
struct LayoutResolution {
  /// The name of the class in the store.
  private let name: String
  private let declared: DeclaredLayout
  /// The layouts in the store, the oldest first.
  private let saved: [SavedLayout]
  /// The highest number of records from before layouts were saved; nil if there are none.
  private let lastUnsaved: UInt8?
  /// Whether the version in the metadata row counts: in BNRPersistence stores, it does not.
  private let knowsVersion: Bool
  /// Whether records begin with a number.
  private let hasNumbers: Bool

  init(
    _ name: String, _ declared: DeclaredLayout, _ metadata: ClassMetadata?,
    _ saved: [SavedLayout], hasNumbers: Bool = true
  ) {
    (self.name, self.declared, self.hasNumbers) = (name, declared, hasNumbers)
    knowsVersion = metadata?.flags != nil
    self.saved = saved
    // A class that declares its properties saves all earlier layouts with its first.
    lastUnsaved =
      switch saved.first {
      case nil: metadata?.classVersion
      case let first?: first.isOfValues && first.number > 0 ? first.number - 1 : nil
      }
  }

  private var version: UInt8 { declared.classVersion }
  private var newest: SavedLayout? { saved.last }

  /// Returns how to write and read the class.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `changedLayout` if a property is missing or its
  ///   value can't be converted.
  func layouts() throws(StoreError) -> ClassLayouts {
    let (number, isOutdated) = try currentNumber()
    let isNew = !isOutdated && number != newest?.number
    // Until now, the number may have belonged to a layout without records.
    let saved = isNew ? saved.filter { $0.number != number } : saved
    let order = LayoutOrder(saved.map(\.number) + (isNew ? [number] : []))
    var readings = [ClassLayouts.RecordReading?](repeating: nil, count: 256)
    for number in 0...version { readings[Int(number)] = .asVersion(number) }
    let assumed = assumedLayouts
    var all = assumed + saved
    let isKnown = all.contains { $0.number == number && (!$0.isOfValues || declared.layout == nil) }
    if !isKnown, let form = declared.form {
      all.removeAll { $0.number == number }
      all.append(SavedLayout(number: number, classVersion: version, form: form))
    }
    readings[Int(number)] = .asVersion(version)
    for layout in saved where layout.number != number {
      if isOutdated, order.isLater(layout.number, than: number) {
        readings[Int(layout.number)] = .later
        continue
      }
      readings[Int(layout.number)] =
        layout.hasRecords
        ? try reading(layout, order.between(layout.number, number, of: saved)) : nil
    }
    return ClassLayouts(
      number: number, classVersion: version, all: all,
      needsSaving: (!isKnown || all.count != self.saved.count) && declared.form != nil
        && !isOutdated,
      isOutdated: isOutdated, assumed: assumed, readings: readings
    ) { rare in
      // Only a history of changes may have such contents, so an unreadable layout is no error.
      guard let layout = saved.first(where: { $0.number == rare && !$0.hasRecords }) else {
        return .later
      }
      return (try? reading(layout, order.between(rare, number, of: saved))) ?? .later
    }
  }

  /// The layouts of records from before layouts were saved.
  ///
  /// Such records have the layout of their version, as far as the class still declares it.
  private var assumedLayouts: [SavedLayout] {
    guard let lastUnsaved, declared.layout != nil else { return [] }
    return (0...min(lastUnsaved, version)).compactMap { number in
      declared.form(at: number).map {
        SavedLayout(number: number, classVersion: number, form: $0)
      }
    }
  }

  /// Returns the number of the current layout, and whether a later program has saved the class.
  private func currentNumber() throws(StoreError) -> (UInt8, isOutdated: Bool) {
    guard let newest else {
      let isOutdated = knowsVersion && lastUnsaved ?? 0 > version
      return (version, isOutdated)
    }
    guard declared.layout != nil else { return try watchedNumber(newest) }
    guard let form = declared.form else { return (version, false) }
    if version == newest.classVersion, form.isSame(as: newest.form) {
      return (newest.number, false)
    }
    let known = saved.last { $0.classVersion == version && form.isSame(as: $0.form) }
    if let known { return (known.number, true) }
    if version < newest.classVersion { return (version, true) }
    guard hasNumbers else { throw withoutNumbers }
    return (try freeNumber(after: newest.number), false)
  }

  /// Returns an unused number: the next one, or that of the oldest layout without records.
  private func freeNumber(after newest: UInt8) throws(StoreError) -> UInt8 {
    let next = max(version, newest < .max ? newest + 1 : newest)
    if !saved.contains(where: { $0.number == next }) { return next }
    guard let oldest = saved.first(where: { !$0.hasRecords }) else { throw tooMany }
    return oldest.number
  }

  /// Returns the number of a class without declared properties.
  ///
  /// Such a class must not change without a new version.
  private func watchedNumber(
    _ newest: SavedLayout
  ) throws(StoreError) -> (UInt8, isOutdated: Bool) {
    if newest.classVersion > version { return (version, true) }
    guard newest.classVersion == version else { return (max(version, newest.number + 1), false) }
    if let form = declared.form, !form.isSame(as: newest.form) {
      throw .changedValues(from: newest.form, to: form, version, name)
    }
    return (newest.number, false)
  }

  private var withoutNumbers: StoreError {
    StoreError(
      .changedLayout,
      """
      The class has changed, and its records don't say which layout they have. Move the objects to \
      a store that versions its records.
      """, at: .init(className: name))
  }

  private var tooMany: StoreError {
    StoreError(
      .changedLayout,
      """
      The class has had 256 layouts. Call upgradeObjects(of:) in the program before, so that the \
      numbers of old layouts are free again.
      """, at: .init(className: name))
  }

  private func reading(
    _ layout: SavedLayout, _ between: [SavedLayout]
  ) throws(StoreError) -> ClassLayouts.RecordReading {
    guard layout.classVersion <= version else { return .later }
    guard case .properties(let properties) = layout.form,
      let form = declared.form(at: layout.classVersion), let declared = declared.layout
    else { return .asVersion(layout.classVersion) }
    if layout.form.isSame(as: form) { return .asVersion(layout.classVersion) }
    let change = LayoutChange(
      from: properties, through: between.map(\.form), to: declared, at: layout.classVersion,
      of: version)
    guard let conversion = change.conversion else {
      throw .changedLayout(change, layout, of: name)
    }
    return .converted(conversion, version: layout.classVersion)
  }
}

/// The order in which a store got its layouts.
private struct LayoutOrder {
  /// The positions by number; the first, if a number occurs twice.
  private var positions = [Int?](repeating: nil, count: 256)

  init(_ numbers: [UInt8]) {
    for (position, number) in numbers.enumerated().reversed() { positions[Int(number)] = position }
  }

  /// Returns whether a layout is later than another.
  func isLater(_ number: UInt8, than other: UInt8) -> Bool {
    guard let first = positions[Int(other)], let second = positions[Int(number)] else {
      return number > other
    }
    return second > first
  }

  /// Returns the layouts between two others.
  func between(_ first: UInt8, _ last: UInt8, of layouts: [SavedLayout]) -> [SavedLayout] {
    layouts.filter { isLater($0.number, than: first) && isLater(last, than: $0.number) }
  }
}
