/// Merges two changed versions of an ordered list with their common base.
///
/// Elements are distinguished by occurrence, so a list can contain an element several times.
/// Elements that both sides have kept stay in the base's order. Elements that either side has
/// removed are not in the result. Elements that either side has inserted come behind the element
/// that they were inserted behind, theirs first. An element that was removed and inserted again has
/// moved. It occurs once: at their position if both sides have moved it, and not at all if the
/// other side has removed it.
///
/// Invariants: if one side is unchanged, the result is the other side. If both sides are equal, the
/// result equals them.
struct ThreeWayList<Element: Hashable> {
  /// The changes of one side to the base.
  private struct Side {
    /// For each element of the base, whether the side has kept it in place.
    var isKept: [Bool]
    /// The inserted elements, in order, by the number of base elements in front of them.
    ///
    /// The origin of a moved element is its index in the base.
    var insertions: [Int: [(element: Element, origin: Int?)]] = [:]
    /// The indices of base elements that have moved.
    var moved: Set<Int> = []

    init(_ base: [Element], _ list: [Element]) {
      isKept = Array(repeating: true, count: base.count)
      var removed: [Element: [Int]] = [:]
      let difference = list.difference(from: base)
      for case .remove(let offset, let element, _) in difference.removals {
        isKept[offset] = false
        removed[element, default: []].append(offset)
      }
      let inserted = Set(difference.insertions.map(\.offset))
      var place = 0
      for (index, element) in list.enumerated() {
        guard inserted.contains(index) else {
          while !isKept[place] { place += 1 }
          place += 1
          continue
        }
        let origin = removed[element]?.popLast()
        if let origin { moved.insert(origin) }
        insertions[place, default: []].append((element, origin))
      }
    }

    /// Whether the side has removed an element of the base without moving it.
    func hasRemoved(_ index: Int) -> Bool { !isKept[index] && !moved.contains(index) }
  }

  /// Merges two versions.
  ///
  /// Complexity: O((n + d) d) for lists of n elements that differ in d.
  static func merge(base: [Element], mine: [Element], theirs: [Element]) -> [Element] {
    if mine == theirs || base == mine { return theirs }
    if base == theirs { return mine }
    let (own, other) = (Side(base, mine), Side(base, theirs))
    var merged: [Element] = []
    for place in 0...base.count {
      let ours = (own.insertions[place] ?? []).filter { one in
        // Drops elements that the other side has moved or removed.
        one.origin.map { other.isKept[$0] } ?? true
      }
      let others = (other.insertions[place] ?? []).filter { one in
        one.origin.map { !own.hasRemoved($0) } ?? true
      }
      merged += others.map(\.element)
      // Elements that both sides have inserted occur once, unless they were moved from elsewhere.
      let isSame =
        ours.map(\.element) == others.map(\.element)
        && (ours + others).allSatisfy { $0.origin == nil }
      if !isSame { merged += ours.map(\.element) }
      if place < base.count, own.isKept[place], other.isKept[place] { merged.append(base[place]) }
    }
    return merged
  }
}

extension CollectionDifference.Change {
  fileprivate var offset: Int {
    switch self {
    case .insert(let offset, _, _), .remove(let offset, _, _): offset
    }
  }
}

/// Merges two changed versions of a set with their common base.
func mergedSet<Element: Hashable>(
  base: [Element], mine: [Element], theirs: [Element]
) -> [Element] {
  let (before, own, other) = (Set(base), Set(mine), Set(theirs))
  // Theirs without the elements removed here, and the elements added here.
  return theirs.filter { own.contains($0) || !before.contains($0) }
    + mine.filter { !before.contains($0) && !other.contains($0) }
}
