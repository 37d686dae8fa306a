import StoreEngine

/// What is looked for in a ``FoldedText``: a run of its letters and spaces.
struct TextPattern: Hashable {
  /// What has to be on one side of what is looked for.
  enum Bound { case anything, word, text }

  let scalars: [UInt32]
  /// Whether it has to be where the text begins.
  let isAtStart: Bool

  /// Nil when there is nothing in the text that could be looked for.
  ///
  /// A word of a script without spaces needs nothing around it.
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

  /// How often the pattern is in a text.
  ///
  /// Complexity: the length of the text times that of the pattern, at worst.
  func count(in text: FoldedText) -> UInt32 {
    var count: UInt32 = 0
    visit(text) { _ in count += 1 }
    return count
  }

  /// Visits the places of a text at which the pattern begins.
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
