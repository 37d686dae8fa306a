/// A counter of the objects that a page skips and of those that it contains.
struct QueryPage {
  /// The number of objects that are still skipped.
  var offset: Int
  /// The number of objects that the page still takes.
  private(set) var left: Int

  init(offset: Int, limit: Int?) { (self.offset, left) = (offset, limit ?? .max) }

  /// Whether the page takes more objects.
  var hasRoom: Bool { left > 0 }

  /// The number of objects that the page needs from the beginning of the result.
  var wanted: Int { left.addingSaturated(offset) }

  /// Counts the next object of the result, and returns whether the page contains it.
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
