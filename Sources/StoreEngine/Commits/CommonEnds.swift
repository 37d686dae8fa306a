/// The parts that an edit of a list has left unchanged: the length of the common prefix of both
/// states, and the length of the common suffix of the rest.
package struct CommonEnds {
  package private(set) var prefix = 0
  package private(set) var suffix = 0

  /// Creates the common ends of two lists.
  ///
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

  /// Returns the elements between them in one of the two states.
  package func middle<Element>(of list: [Element]) -> ArraySlice<Element> {
    list[prefix..<list.count - suffix]
  }
}
