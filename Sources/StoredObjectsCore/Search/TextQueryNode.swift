import StoreEngine

/// A part of a ``TextQuery``.
///
/// `@unchecked Sendable`: `parts` changes in `deinit` only, of this object or of one that holds the
/// last reference to this one, so that nobody else can see it change.
final class TextQueryNode: @unchecked Sendable {
  enum Kind: Sendable {
    case nothing
    case text(String, TextPattern.Bound, TextPattern.Bound)
    case all
    case any
    /// Of one part.
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

  /// Releases the parts one after the other: a release of each by the one above would take a stack
  /// as deep as the query.
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
