/// What an edit of a list has left alone: how many elements both states begin with, and how many of
/// the others both end with.
package struct CommonEnds {
  package private(set) var prefix = 0
  package private(set) var suffix = 0

  /// Complexity: linear in the length of the shorter list.
  @inline(__always)
  package init<Element>(_ old: [Element], _ new: [Element], by areSame: (Element, Element) -> Bool)
  {
    let limit = min(old.count, new.count)
    while prefix < limit, areSame(old[prefix], new[prefix]) { prefix += 1 }
    while suffix < limit - prefix,
      areSame(old[old.count - 1 - suffix], new[new.count - 1 - suffix])
    { suffix += 1 }
  }

  /// What stands between them in one of the two states.
  package func middle<Element>(of list: [Element]) -> ArraySlice<Element> {
    list[prefix..<list.count - suffix]
  }
}
