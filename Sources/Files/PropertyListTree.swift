/// A check of a binary property list before Foundation decodes it.
///
/// The decoder follows references from container to container until the stack or the memory is
/// exhausted. This check reads only the containers: every list that passes expands to a tree of
/// bounded depth and size. The decoder throws for all other problems.
package struct PropertyListTree {
  private static let deepest = 256
  private let layout: PropertyListLayout
  /// The number of references that may still be followed; each takes at least a byte of the list.
  private var budget: Int

  /// Reads the trailer; nil if it is not valid.
  package init?(_ bytes: [UInt8]) {
    guard let layout = PropertyListLayout(bytes) else { return nil }
    (self.layout, budget) = (layout, 8 * bytes.count)
  }

  /// Whether the list is a tree that the decoder can process.
  package mutating func isBounded() -> Bool { isBounded(layout.top, depth: 0) }

  private mutating func isBounded(_ object: Int, depth: Int) -> Bool {
    guard depth <= Self.deepest, let offset = layout.offset(of: object) else { return false }
    let kind = layout.bytes[offset] >> 4
    guard (0xA...0xD).contains(kind) else { return true }
    guard let (length, first) = layout.count(at: offset) else { return false }
    let count = kind == 0xD ? 2 * length : length
    guard count <= budget else { return false }
    budget -= count
    for index in 0..<count {
      guard let element = layout.reference(index, from: first),
        isBounded(element, depth: depth + 1)
      else { return false }
    }
    return true
  }
}
