import StoreEngine

/// The objects that occur more or less often in one list than in another.
struct ChangedTargets {
  /// In the order in which they occur in the lists, each once.
  private(set) var targets: [StoredObject] = []

  /// Compares two lists.
  ///
  /// Complexity: linear in the sizes of the lists; one hash for each place between the first and
  /// the last difference.
  init(_ before: [StoredObject], _ now: [StoredObject]) {
    let ends = CommonEnds(before, now, by: ===)
    let (old, new) = (ends.middle(of: before), ends.middle(of: now))
    if old.isEmpty && new.isEmpty { return }
    var counts: [ObjectIdentifier: Int] = [:]
    for target in new { counts[ObjectIdentifier(target), default: 0] += 1 }
    for target in old { counts[ObjectIdentifier(target), default: 0] -= 1 }
    // Removed objects come before added ones, so that an object can move from one list to another.
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
