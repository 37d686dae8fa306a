import Locks
import StoreEngine
import StoredObjectsCore

/// Two properties that may be inverses of each other, and what the objects show about it.
struct InversePair: Sendable {
  let className: String
  let property: String
  let otherClass: String
  let otherProperty: String
  let otherType: StoredType
  let verdict: Verdict

  /// The conclusion from the references of objects.
  enum Verdict: Sendable {
    /// All references that were compared have a counterpart.
    case areInverses
    /// Some have none.
    case areIndependent
    /// There are no references to compare.
    case unknown
  }
}

extension BrowsedState {
  private static let comparedObjects = 200
  private static let comparedTargets = 8
  private static let comparisonTime = Duration.milliseconds(400)

  /// Returns the properties that may be inverses of a property.
  ///
  /// A store does not keep which properties are inverses. It shows in the references of objects.
  func inverses(of property: String, _ known: BrowsedClass) throws -> [InversePair] {
    let key = "\(known.name) \(property)"
    if let found = findings.withLock({ $0.inverses[key] }) { return found }
    guard let target = known.property(property)?.type.referenceForm?.className,
      let other = try? browsedClass(target)
    else { return [] }
    var pairs: [InversePair] = []
    for candidate in other.properties
    where candidate.type.referenceForm?.className == known.name {
      let verdict = try verdict(known, property, other, candidate.name)
      pairs.append(
        InversePair(
          className: known.name, property: property, otherClass: other.name,
          otherProperty: candidate.name, otherType: candidate.type, verdict: verdict))
    }
    // If one property is the inverse, the others are not.
    if pairs.contains(where: { $0.verdict == .areInverses }) {
      pairs.removeAll { $0.verdict == .unknown }
    }
    let found = pairs
    findings.withLock { $0.inverses[key] = found }
    return found
  }

  /// Returns the property that is the inverse of another, as far as objects show it; nil for none.
  ///
  /// Complexity: linear in the number of objects that are compared, at most 200 of each class.
  package func inverse(of property: String, _ known: BrowsedClass) throws -> String? {
    let found = try inverses(of: property, known).filter { $0.verdict == .areInverses }
    return found.count == 1 ? found[0].otherProperty : nil
  }

  private func verdict(
    _ known: BrowsedClass, _ property: String, _ other: BrowsedClass, _ otherProperty: String
  ) throws -> InversePair.Verdict {
    let first = try mirrored(known, property, otherProperty)
    if first == false { return .areIndependent }
    let second = try mirrored(other, otherProperty, property)
    if second == false { return .areIndependent }
    return first == true || second == true ? .areInverses : .unknown
  }

  /// Returns whether the references of a property have counterparts; nil if there are none.
  private func mirrored(
    _ known: BrowsedClass, _ property: String, _ counterpart: String
  ) throws -> Bool? {
    let deadline = ContinuousClock.now + Self.comparisonTime
    var isMirrored: Bool?
    var (compared, row) = (0, 0 as UInt32?)
    while let after = row, compared < Self.comparedObjects, ContinuousClock.now < deadline {
      let found = try records(
        of: known, .after(after), limit: Self.batchRows, maximumLookUps: 16 * Self.batchRows)
      for (rowID, bytes) in found.rows where compared < Self.comparedObjects {
        guard let part = (try? known.record(rowID, bytes))?.part(property) else { continue }
        let targets = (try? references(part.bytes, part.type)) ?? []
        if targets.isEmpty { continue }
        compared += 1
        let address = ObjectAddress(known.name, rowID)
        for target in targets.prefix(Self.comparedTargets) {
          guard let back = readableRecord(target)?.part(counterpart) else { continue }
          guard ((try? references(back.bytes, back.type)) ?? []).contains(address) else {
            return false
          }
          isMirrored = true
        }
      }
      row = found.last
    }
    return isMirrored
  }
}

extension EditPlan {
  /// Changes the other sides of references that an edit has changed.
  mutating func updateInverses(
    of address: ObjectAddress, _ property: String, _ type: StoredType, from old: [UInt8],
    to new: [UInt8]
  ) throws {
    guard type.referenceForm != nil else { return }
    let known = try state.browsedClass(address.className)
    let before = Self.counts(try state.references(old, type))
    let after = Self.counts(try state.references(new, type))
    // A move changes no other side.
    let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    guard !changed.isEmpty else { return }
    for pair in try state.inverses(of: property, known) where try isKept(pair) {
      for target in changed.sorted(by: { "\($0)" < "\($1)" }) {
        try setCount(of: address, after[target] ?? 0, in: target, pair)
      }
    }
  }

  private static func counts(_ list: [ObjectAddress]) -> [ObjectAddress: Int] {
    list.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  /// Whether both sides of a pair have to change.
  private func isKept(_ pair: InversePair) throws(BrowsingError) -> Bool {
    switch pair.verdict {
    case .areInverses: return true
    case .areIndependent: return false
    case .unknown:
      if confirmations.contains(.bothSides) { return true }
      if confirmations.contains(.oneSide) { return false }
      throw .unconfirmed(
        .bothSides,
        """
        \(pair.className).\(pair.property) and \(pair.otherClass).\(pair.otherProperty) may be \
        inverses. The store does not keep that, and no object shows it yet. Set both sides, or \
        only this one.
        """)
    }
  }

  /// Lets an object occur as often in the other side as the other object occurs in this one.
  private mutating func setCount(
    of address: ObjectAddress, _ count: Int, in target: ObjectAddress, _ pair: InversePair
  ) throws {
    guard let part = try record(target)?.part(pair.otherProperty),
      let form = part.type.referenceForm
    else { return }
    var list = try state.references(part.bytes, part.type)
    let count = form.isList && !form.isSet ? count : min(count, 1)
    if !form.isList, count > 0, list != [address] {
      // The target leaves the object that it belonged to.
      for previous in list { try remove(target, from: previous, pair.property) }
      list = []
    }
    var current = list.count { $0 == address }
    while current < count {
      list.append(address)
      current += 1
    }
    while current > count, let last = list.lastIndex(of: address) {
      list.remove(at: last)
      current -= 1
    }
    let texts = list.map { StoredValue.string("\($0)") }
    try replace(
      target, pair.otherProperty,
      with: state.encoded(form.isList ? .array(texts) : texts.first ?? .null, part.type))
  }
}
