/// Counts the objects of a result that a page passes over, and those that it has.
struct QueryPage {
  /// How many objects are still passed over.
  var offset: Int
  /// How many objects the page still takes.
  private(set) var left: Int

  init(offset: Int, limit: Int?) { (self.offset, left) = (offset, limit ?? .max) }

  /// Whether the page takes more objects.
  var hasRoom: Bool { left > 0 }

  /// How many objects from the beginning of the result the page needs.
  var wanted: Int { left.addingSaturated(offset) }

  /// Counts the next object of the result, and says whether it is one of the page.
  @inline(__always)
  mutating func takes() -> Bool {
    guard offset == 0 else {
      offset -= 1
      return false
    }
    left -= 1
    return true
  }
}
