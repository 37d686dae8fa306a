import StoreEngine

/// The objects that one list holds more often than another.
struct ChangedTargets {
  /// In the order in which the lists name them, each once.
  private(set) var targets: [StoredObject] = []

  /// Complexity: linear in the sizes of the lists, a hash for each place between the first and the
  /// last that differ.
  init(_ before: [StoredObject], _ now: [StoredObject]) {
    let ends = CommonEnds(before, now, by: ===)
    let (old, new) = (ends.middle(of: before), ends.middle(of: now))
    if old.isEmpty && new.isEmpty { return }
    var counts: [ObjectIdentifier: Int] = [:]
    for target in new { counts[ObjectIdentifier(target), default: 0] += 1 }
    for target in old { counts[ObjectIdentifier(target), default: 0] -= 1 }
    // Who leaves comes before who joins, so that an object can be handed from one to another.
    for target in old + new {
      if let count = counts.removeValue(forKey: ObjectIdentifier(target)), count != 0 {
        targets.append(target)
      }
    }
    countsOfMany = targets.count > 4 ? Self.counts(of: targets, in: now) : nil
  }

  private var countsOfMany: [ObjectIdentifier: Int]?

  private static func counts(
    of targets: [StoredObject], in list: [StoredObject]
  ) -> [ObjectIdentifier: Int] {
    var counts: [ObjectIdentifier: Int] = [:]
    for target in targets { counts[ObjectIdentifier(target)] = 0 }
    for target in list { counts[ObjectIdentifier(target)]? += 1 }
    return counts
  }

  func count(of target: StoredObject, in list: [StoredObject]) -> Int {
    if let countsOfMany { return countsOfMany[ObjectIdentifier(target)] ?? 0 }
    return list.count { $0 === target }
  }
}
