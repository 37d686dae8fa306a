import StoreEngine

/// A comparison of the two sides of relationships as saved.
///
/// Each reference adds its hash to a sum, and its counterpart subtracts the same hash. If both
/// sides agree, the sum is zero, in whatever order records are read. References are collected only
/// if the sum is not zero, so that the check of a sound store needs no memory for them.
struct InverseCheck {
  private let keeper: RelationshipKeeper
  /// The number of each end that has an inverse.
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var ends: [RelationshipEnd] = []
  private var sum: UInt64 = 0
  /// For each reference, the count on the first side minus the count on the second side.
  ///
  /// It is nil while only sums are computed.
  private var counts: [Edge: Int]?
  /// The objects whose records could not be read, so that their references are unknown.
  private var unread: Set<ObjectKey> = []

  /// One side of a reference: a property of a row.
  private struct Side: Hashable, Comparable {
    let end: Int
    let rowID: UInt32

    static func < (one: Side, other: Side) -> Bool {
      (one.end, one.rowID) < (other.end, other.rowID)
    }
  }

  /// A reference and its counterpart, with the lesser side first.
  private struct Edge: Hashable {
    let first: Side
    let second: Side

    var hash: UInt64 {
      var hasher = Hasher()
      hasher.combine(self)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }
  }

  /// Creates a check, or returns nil if no class has an inverse.
  init?(_ store: Store) {
    guard let keeper = store.relationships else { return nil }
    self.keeper = keeper
    for end in keeper.ends.joined() where end.hasInverse {
      numbers[ObjectIdentifier(end)] = ends.count
      ends.append(end)
    }
    if ends.isEmpty { return nil }
  }

  /// Whether the sides of all added references agree.
  var isBalanced: Bool { sum == 0 }

  /// Starts to collect references.
  mutating func beginGathering() { counts = [:] }

  func concerns(_ entry: RegisteredClass) -> Bool {
    keeper.ends(of: entry).contains { $0.hasInverse }
  }

  mutating func addUnread(_ rowID: UInt32, _ entry: RegisteredClass) {
    unread.insert(ObjectKey(classID: entry.classID, rowID: rowID))
  }

  /// Adds the references of a saved object to rows that exist.
  mutating func add(
    _ object: StoredObject, _ entry: RegisteredClass, where exists: (ObjectKey) -> Bool
  ) {
    for end in keeper.ends(of: entry) where end.hasInverse {
      guard let number = numbers[ObjectIdentifier(end)] else { continue }
      let side = Side(end: number, rowID: object.rowID)
      for (target, count) in targets(of: object, end) where exists(target) {
        guard let inverse = inverse(of: end, in: target) else { continue }
        // A property that holds an object at most once has no count to compare.
        let isExact = end.kind == .list && ends[inverse].kind == .list
        add(side, Side(end: inverse, rowID: target.rowID), isExact ? count : 1)
      }
    }
  }

  private func targets(of object: StoredObject, _ end: RelationshipEnd) -> [ObjectKey: Int] {
    if end.kind == .one { return end.target(of: object)?.key.map { [$0: 1] } ?? [:] }
    return end.targets(of: object).reduce(into: [:]) { counts, target in
      if let key = target.key { counts[key, default: 0] += 1 }
    }
  }

  private func inverse(of end: RelationshipEnd, in target: ObjectKey) -> Int? {
    let index = end.inverseIndices[Int(target.classID)]
    if index < 0 { return nil }
    return numbers[ObjectIdentifier(keeper.ends[Int(target.classID)][index])]
  }

  private mutating func add(_ side: Side, _ other: Side, _ count: Int) {
    if side == other { return }
    let isFirst = side < other
    let edge = isFirst ? Edge(first: side, second: other) : Edge(first: other, second: side)
    let signed = isFirst ? count : -count
    if counts == nil {
      sum &+= edge.hash &* UInt64(bitPattern: Int64(signed))
    } else {
      counts?[edge, default: 0] += signed
    }
  }
}

// MARK: Findings

extension InverseCheck {
  /// Returns the findings about the collected references, in the order of classes and rows.
  func findings() -> [StoreFinding] {
    var names: [Int: String] = [:]
    for end in Set(oneSided().flatMap { [$0.from.end, $0.to.end] }) {
      names[end] = ends[end].propertyName
    }
    return oneSided().sorted { ($0.from, $0.to) < ($1.from, $1.to) }.map { from, to in
      let target = ends[to.end].source
      return StoreFinding(
        .oneSided,
        """
        \(names[from.end] ?? "") refers to \(target.name) row \(to.rowID), whose \
        \(names[to.end] ?? "") does not refer back, or not as often. Set one of the two again.
        """, at: ends[from.end].source.location(from.rowID))
    }
  }

  /// Returns the sides with more references than their counterparts.
  private func oneSided() -> [(from: Side, to: Side)] {
    (counts ?? [:]).compactMap { edge, count in
      if count == 0 || isUnread(edge.first) || isUnread(edge.second) { return nil }
      return count > 0 ? (edge.first, edge.second) : (edge.second, edge.first)
    }
  }

  private func isUnread(_ side: Side) -> Bool {
    unread.contains(ObjectKey(classID: ends[side.end].source.classID, rowID: side.rowID))
  }
}

extension RelationshipEnd {
  /// The name of the property.
  ///
  /// A key path does not have the name. It is the property that contains an object after the object
  /// was set.
  fileprivate var propertyName: String {
    let (object, target) = (source.type.init(), relationship.target.init())
    if kind == .one { setTarget(of: object, target) } else { setTargets(of: object, [target]) }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      if let child = current.children.first(where: { holds(target, $0.value, depth: 0) }) {
        let label = child.label ?? ""
        return "\"\(label.hasPrefix("_") ? String(label.dropFirst()) : label)\""
      }
      mirror = current.superclassMirror
    }
    return "a relationship to \(relationship.target)"
  }

  private func holds(_ target: StoredObject, _ value: Any, depth: Int) -> Bool {
    if let object = value as? StoredObject { return object === target }
    // The levels are a property wrapper, a list, its storage and an array.
    guard depth < 5 else { return false }
    return Mirror(reflecting: value).children.contains {
      holds(target, $0.value, depth: depth + 1)
    }
  }
}
