import Files

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
  { self.init(old.count, new.count) { areSame(old[$0], new[$1]) } }

  /// Creates the common ends of two sequences of bytes.
  init(_ old: ArraySlice<UInt8>, _ new: ArraySlice<UInt8>) {
    self.init(old.count, new.count) { old[old.startIndex + $0] == new[new.startIndex + $1] }
  }

  /// Creates the common ends of two sequences of bytes.
  init(_ old: RawSpan, _ new: RawSpan) {
    prefix = old.commonPrefixCount(new)
    let limit = min(old.byteCount, new.byteCount) - prefix
    while suffix < limit,
      old.loadByte(at: old.byteCount - 1 - suffix) == new.loadByte(at: new.byteCount - 1 - suffix)
    { suffix += 1 }
  }

  /// Creates the common ends of two lists that a closure compares by the indices of elements.
  @inline(__always)
  private init(_ oldCount: Int, _ newCount: Int, areSame: (Int, Int) -> Bool) {
    let limit = min(oldCount, newCount)
    while prefix < limit, areSame(prefix, prefix) { prefix += 1 }
    while suffix < limit - prefix, areSame(oldCount - 1 - suffix, newCount - 1 - suffix) {
      suffix += 1
    }
  }

  /// Returns the elements between them in one of the two states.
  package func middle<Element>(of list: [Element]) -> ArraySlice<Element> {
    list[prefix..<list.count - suffix]
  }
}
