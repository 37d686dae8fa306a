import StoreEngine

/// A pattern to find in a ``FoldedText``: a run of letters and spaces.
struct TextPattern: Hashable {
  /// The requirement at one end of a pattern.
  enum Bound { case anything, word, text }

  let scalars: [UInt32]
  /// Whether the pattern must be at the start of the text.
  let isAtStart: Bool

  /// Creates a pattern, or returns nil if the text contains nothing to search for.
  ///
  /// A word of a script without spaces needs no boundary around it.
  init?(_ text: String, from start: Bound, to end: Bound) {
    var scalars = FoldedText(text).scalars
    guard scalars.count > 2 else { return nil }
    let isBound = (
      start: !ScalarFolding.isUnspaced(scalars[1]),
      end: !ScalarFolding.isUnspaced(scalars[scalars.count - 2])
    )
    switch end {
    case .text: scalars.append(FoldedText.end)
    case .word where isBound.end: break
    default: scalars.removeLast()
    }
    switch start {
    case .text: break
    case .word where isBound.start: break
    default: scalars.removeFirst()
    }
    self.scalars = scalars
    isAtStart = start == .text
  }

  /// Returns the number of times the pattern occurs in a text.
  ///
  /// Complexity: The length of the text times the length of the pattern, in the worst case.
  func count(in text: FoldedText) -> UInt32 {
    var count: UInt32 = 0
    visit(text) { _ in count += 1 }
    return count
  }

  /// Calls a closure with each position in a text at which the pattern begins.
  func visit(_ text: FoldedText, _ body: (Int) -> Void) {
    guard !text.isEmpty else { return }
    let last = isAtStart ? 0 : text.scalars.count + 1 - scalars.count
    var position = 0
    while position <= last {
      if isThere(position, text) { body(position) }
      position += 1
    }
  }

  private func isThere(_ position: Int, _ text: FoldedText) -> Bool {
    for index in scalars.indices where text[position + index] != scalars[index] { return false }
    return true
  }
}
