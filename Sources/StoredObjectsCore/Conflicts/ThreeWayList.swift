/// Merges two changed versions of an ordered list with the version that both come from.
///
/// Elements are told apart by occurrence, so a list may have the same element several times. What
/// both sides kept stays in the base's order. What either side has removed is gone. What either side
/// has inserted is there, behind the element it was inserted behind, and theirs comes first. An
/// element that was removed and inserted again has moved: it is there once, at their position where
/// both have moved it, and nowhere where the other side has removed it.
///
/// Laws: with one side unchanged the result is the other side, and with both sides equal it is
/// either.
struct ThreeWayList<Element: Hashable> {
  /// How one side has changed the base.
  private struct Side {
    /// Of each element of the base whether the side still has it where it was.
    var isKept: [Bool]
    /// The inserted elements, in order, by the number of base elements in front of them.
    ///
    /// An element that was moved has its index in the base as its origin.
    var insertions: [Int: [(element: Element, origin: Int?)]] = [:]
    /// The elements of the base that are elsewhere now.
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

    /// Whether the side has taken an element of the base away, and not elsewhere.
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
        // Theirs has the same element elsewhere, or has removed it.
        one.origin.map { other.isKept[$0] } ?? true
      }
      let others = (other.insertions[place] ?? []).filter { one in
        one.origin.map { !own.hasRemoved($0) } ?? true
      }
      merged += others.map(\.element)
      // What both have inserted is there once, unless it has come from different places.
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

/// Merges two changed versions of a set with the version that both come from.
func mergedSet<Element: Hashable>(
  base: [Element], mine: [Element], theirs: [Element]
) -> [Element] {
  let (before, own, other) = (Set(base), Set(mine), Set(theirs))
  // Theirs without what was removed here, and what was added here.
  return theirs.filter { own.contains($0) || !before.contains($0) }
    + mine.filter { !before.contains($0) && !other.contains($0) }
}
