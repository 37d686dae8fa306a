import StoreEngine

/// A node of a ``TextQuery``.
///
/// `@unchecked Sendable`: `parts` changes only in `deinit`, of this node or of a node that holds
/// the last reference to it. So no other thread can see the change.
final class TextQueryNode: @unchecked Sendable {
  enum Kind: Sendable {
    case nothing
    case text(String, TextPattern.Bound, TextPattern.Bound)
    case all
    case any
    /// Negates one part.
    case not
  }

  let kind: Kind
  private(set) var parts: [TextQueryNode]

  private init(_ kind: Kind, _ parts: [TextQueryNode] = []) {
    (self.kind, self.parts) = (kind, parts)
  }

  static let nothing = TextQueryNode(.nothing)

  static func text(
    _ text: String, _ start: TextPattern.Bound, _ end: TextPattern.Bound
  ) -> TextQueryNode { TextQueryNode(.text(text, start, end)) }

  static func all(_ parts: [TextQueryNode]) -> TextQueryNode { TextQueryNode(.all, parts) }
  static func any(_ parts: [TextQueryNode]) -> TextQueryNode { TextQueryNode(.any, parts) }
  static func not(_ part: TextQueryNode) -> TextQueryNode { TextQueryNode(.not, [part]) }

  /// Releases the parts one by one: recursive release would need a stack as deep as the query.
  deinit {
    var rest: [TextQueryNode] = []
    swap(&rest, &parts)
    while !rest.isEmpty {
      var last = rest.removeLast()
      guard isKnownUniquelyReferenced(&last) else { continue }
      rest += last.parts
      last.parts = []
    }
  }
}
